import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { splitWords } from '../../../src/text/command-words.ts';
import { openTunnel, tunnelRecipe } from '../../../src/webhooks/subscriptions/tunnel.ts';
import { publicUrl } from '../../../src/webhooks/subscriptions/tunnel-url.ts';

const clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {}) as Promise<void>,
};
/** A tunnel program made of a line of JavaScript. */
const program = (script: string) => `${process.execPath} -e "${script.replaceAll('"', "'")}" {port}`;
const stays = 'setInterval(() => {}, 1000)';
const openTunnelUrl = (text: string, more = {}) => openTunnel(tunnelRecipe(text), 8977, { clock, ...more });
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

// Each is a program of its own, and they mostly wait: so they wait together.
test.concurrent.each([
  ['a plain line', "console.log('https://abc.example.com')"],
  ['standard error', "console.error('url: https://abc.example.com.')"],
  ['a box with colours', "console.log('| \\x1b[32mhttps://abc.example.com\\x1b[0m |')"],
  ['two pieces', "process.stdout.write('see https://abc.exam'); setTimeout(() => console.log('ple.com now'), 200)"],
  ['a text without a line end', "process.stdout.write('https://abc.example.com')"],
  [
    'what it forwards to, named first',
    "console.log('to http://127.0.0.1:8977/'); setTimeout(() => console.log('https://abc.example.com'), 200)",
  ],
  [
    'behind links to pages',
    "console.log('Docs: https://example.org/help, https://example.org/terms'); console.log('New: https://example.net/x/releases'); setTimeout(() => console.log('Forwarding https://abc.example.com -> here'), 1500)",
  ],
  ['a program that ends well', "console.log('https://abc.example.com'); process.exit(0)"],
])('the URL is read from %s', { tags: ['long'] }, async (_, script) => {
  const tunnel = await openTunnelUrl(program(`${script}; ${stays}`));
  expect(new URL(tunnel.url).href).toBe('https://abc.example.com/');
  await tunnel.close();
});

test.concurrent.each([
  ['beside the receiver', "console.log('https://example.com/abc to http://localhost:' + process.argv[1])"],
  ['where nothing else comes', "console.log('your address: https://example.com/abc')"],
  [
    'beside a page of this machine',
    "console.log('Web: http://127.0.0.1:4040'); setTimeout(() => console.log('your address: https://example.com/abc'), 200)",
  ],
])('a URL with a path is taken %s', { tags: ['long'] }, async (_, script) => {
  const tunnel = await openTunnelUrl(program(`${script}; ${stays}`));
  expect(tunnel.url).toBe('https://example.com/abc');
  await tunnel.close();
});

test.concurrent('a link in the error of a program that fails is no tunnel', async () => {
  const failing = program("console.error('Sign up first: https://example.com'); process.exit(1)");
  await expect(openTunnelUrl(failing)).rejects.toThrow(/exit 1: Sign up first/u);
});

test.concurrent('a loopback URL will do where no other comes, and {port} is the port', { tags: ['long'] }, async () => {
  const tunnel = await openTunnelUrl(program(`console.log('http://127.0.0.1:' + process.argv[1] + '/in'); ${stays}`));
  expect(tunnel.url).toBe('http://127.0.0.1:8977/in');
  await tunnel.close();
});

test.concurrent('closing ends the program and its children', { tags: ['long'] }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-tunnel-'));
  const script = join(folder, 'tunnel.mjs');
  await writeFile(
    script,
    `import { spawn } from 'node:child_process';
     const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); ${stays}']);
     process.on('SIGTERM', () => {});
     console.log('https://abc.example.com pids ' + process.pid + ' ' + child.pid);
     import { writeFileSync } from 'node:fs';
     writeFileSync(${JSON.stringify(join(folder, 'pids'))}, process.pid + ' ' + child.pid);
     ${stays}`,
  );
  const tunnel = await openTunnelUrl(`${process.execPath} ${script}`);
  while (!(await readFile(join(folder, 'pids'), 'utf8').catch(() => ''))) await sleep(10);
  const pids = (await readFile(join(folder, 'pids'), 'utf8')).split(' ').map(Number);
  expect(pids.map(alive)).toEqual([true, true]);
  await tunnel.close();
  while (pids.some(alive)) await sleep(10);
});

test.concurrent('a tunnel that dies is noticed, with its last words', { tags: ['long'] }, async () => {
  const tunnel = await openTunnelUrl(
    program(
      "console.log('https://abc.example.com on :' + process.argv[1]); setTimeout(() => { console.error('quota exceeded'); process.exit(3) }, 1000)",
    ),
  );
  expect(await tunnel.died).toMatch(/ended with exit 3: quota exceeded/u);
});

test.concurrent('one that cannot start, ends at once, or never names a URL is said plainly', {
  tags: ['long'],
}, async () => {
  await expect(openTunnelUrl('no-such-program-here {port}')).rejects.toMatchObject({
    kind: 'failed',
    message: expect.stringContaining('not installed'),
    hint: expect.stringContaining('--public-url'),
  });
  await expect(openTunnelUrl(program("console.error('no account'); process.exit(1)"))).rejects.toThrow(
    /exit 1: no account/u,
  );
  await expect(openTunnelUrl(program(stays), { patienceMs: 200 })).rejects.toThrow(/named no URL in time/u);
});

test.concurrent('a stop that came before it was started ends it at once', async () => {
  await expect(openTunnelUrl(program(stays), { signal: AbortSignal.abort('SIGINT') })).rejects.toThrow(/interrupted/u);
});

test.concurrent('no shell sees the command', { tags: ['long'] }, async () => {
  const tunnel = await openTunnelUrl(
    `${process.execPath} -e "console.log('on :8977 https://abc.example.com/' + process.argv[1]); ${stays}" '$(id);\`id\`|cat' `,
  );
  expect(tunnel.url).toContain('$(id);');
  await tunnel.close();
});

test.each([
  ['a b  c', ['a', 'b', 'c']],
  [`a "b c" 'd "e"'`, ['a', 'b c', 'd "e"']],
  [`a\\ b "c\\"d" ''`, ['a b', 'c"d', '']],
  ['--x="1 2" $HOME *', ['--x=1 2', '$HOME', '*']],
  ['', []],
])('words of %j', (text, words) => {
  expect(splitWords(text, '--tunnel')).toEqual(words);
});

test.each(['a "b', "a 'b", 'a \\'])('%j has a quote that does not end', (text) => {
  expect(() => splitWords(text, '--tunnel')).toThrow(/does not end/u);
});

test('cloudflared and ngrok are told apart from what else they print', () => {
  const cloudflared = `INF Thank you for trying Cloudflare Tunnel. https://developers.cloudflare.com/tunnel
INF |  https://brave-sample-words.trycloudflare.com  |`;
  expect(tunnelRecipe('cloudflared').find(cloudflared, 8977)?.urls).toEqual([
    'https://brave-sample-words.trycloudflare.com',
  ]);
  const offline =
    'failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup api.trycloudflare.com: no such host\n';
  expect(tunnelRecipe('cloudflared').find(offline, 8977)).toBeUndefined();
  const ngrok =
    't=2026 lvl=info msg="started tunnel" obj=tunnels name=command_line addr=http://127.0.0.1:8977 url=https://ab12.ngrok-free.app';
  expect(tunnelRecipe('ngrok').find(ngrok, 8977)?.urls).toEqual(['https://ab12.ngrok-free.app']);
  expect(() => tunnelRecipe(' ')).toThrow(/empty/u);
});

test.each([
  [
    'localhost.run',
    `Welcome to localhost.run!

Follow your favourite reverse tunnel at [https://twitter.com/localhost_run].

To set up and manage custom domains go to https://admin.localhost.run/

More details on custom domains (and how to enable subdomains of your custom
domain) at https://localhost.run/docs/custom-domains

0f0d0b.lhr.life tunneled with tls termination, https://0f0d0b.lhr.life`,
    'https://0f0d0b.lhr.life',
  ],
  [
    'pinggy',
    `You are not authenticated.
Your tunnel will expire in 60 minutes. Upgrade to Pinggy Pro to get unrestricted tunnels. https://dashboard.pinggy.io

http://rnxyz-1-2-3-4.a.free.pinggy.link
https://rnxyz-1-2-3-4.a.free.pinggy.link`,
    'https://rnxyz-1-2-3-4.a.free.pinggy.link',
  ],
  [
    'one that names the port last',
    `Docs at https://docs.tunnel.test
https://real.tunnel.test -> http://localhost:8977`,
    'https://real.tunnel.test',
  ],
  [
    'one that repeats itself',
    `your url is https://abc.tunnel.test
open https://abc.tunnel.test/ in a browser`,
    'https://abc.tunnel.test/',
  ],
  ['a domain of its own, with the port', 'https://api.acme.test => 127.0.0.1:8977', 'https://api.acme.test'],
  ['a domain of its own', 'Tunnel: https://api.mycompany.test', 'https://api.mycompany.test'],
  ['a page behind a word', 'License URL: https://tool.test/license\nhttps://abc.app.test', 'https://abc.app.test'],
  ['a site behind a word', 'Ready! See https://docs.tool.test\nhttps://abc.app.test', 'https://abc.app.test'],
])('the tunnel is found in what %s prints', (_, output, url) => {
  expect(publicUrl(output, 8977)?.urls).toEqual([url]);
});

test.each([
  'Update available! See https://github.com',
  'port 8977 is in use, see https://help.tunnel.test/port-in-use',
  'error: cannot reach https://api.tunnel.test, retrying with port 8977',
  'Read the docs: https://tunnel.test/guide',
  'Welcome! https://www.tunnel.test',
  'The tunnel is made by https://github.com',
])('no address is taken from %j', (output) => {
  expect(publicUrl(output, 8977)).toBeUndefined();
});

test.concurrent('of two addresses nobody knows which is the tunnel: neither is taken, and both are named', {
  tags: ['long'],
}, async () => {
  const two = program(`console.log('https://one.tunnel.test and https://two.tunnel.test'); ${stays}`);
  await expect(openTunnelUrl(two)).rejects.toMatchObject({
    message: expect.stringMatching(
      /named https:\/\/one\.tunnel\.test and https:\/\/two\.tunnel\.test, and does not say/u,
    ),
    hint: expect.stringContaining('--public-url'),
  });
});
