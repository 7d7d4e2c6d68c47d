import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { createProblems } from '../../../src/webhooks/serve/problems.ts';
import { endAfterEach } from '../../endings.ts';
import { allowed } from '../../real-machine.ts';
import { virtualClock } from '../../svc.ts';
import { listening } from '../listening.ts';
import { body, deliver, newWorld, secret, serving } from '../serving.ts';

const endings = endAfterEach();
let said: string[] = [];
afterEach(() => {
  said = [];
});

function problems(probe: () => Promise<void> = async () => {}) {
  const clock = virtualClock();
  const made = createProblems({ clock, notice: (text) => void said.push(text), probe });
  endings.push(made.end);
  return { ...made, clock };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

test('wrong signatures are told at once, and then once a minute with their count and why', async () => {
  const { rejected } = problems();
  rejected('no-match');
  const first =
    'A delivery was refused with 401: signed with another secret, or the body was changed on the way. If the service sent it, svc does not know its signing secret.';
  expect(said).toEqual([first]);
  for (let n = 0; n < 1_200; n++) rejected('no-match');
  rejected('no-signature');
  expect(said).toEqual([first]);
  await turns(5);
  expect(said.slice(1)).toEqual([
    '1,201 more deliveries were refused with 401 within a minute: signed with another secret, or the body was changed on the way; it has no X-SVC-Signature.',
  ]);
  await turns(5);
  rejected('not-hex', 'acme');
  rejected('not-hex', 'globex');
  rejected('not-hex', 'acme');
  await turns(5);
  expect(said.splice(3)).toEqual([
    '2 more deliveries at the paths of globex, acme were refused with 401 within a minute: the signature is not hexadecimal.',
  ]);
  expect(said.slice(2)).toEqual([
    'A delivery at the path of acme was refused with 401: the signature is not hexadecimal.',
  ]);
});

test('an inbox that failed is asked each second, and that it answers again is told once', async () => {
  let failures = 3;
  const asked: number[] = [];
  const { inbox, clock } = problems(async () => {
    asked.push(clock.ticks());
    if (failures-- > 0) throw new Error('no space left on device');
  });
  const began = clock.ticks();
  for (let n = 0; n < 5; n++) inbox(new Error('no space left on device'));
  await turns(20);
  expect(said).toEqual(['The inbox does not answer: no space left on device', 'The inbox answers again.']);
  expect(asked.map((at) => at - began)).toEqual([1_000, 2_000, 3_000, 4_000]);
});

test('the same trouble is told once a minute, another one after ten seconds', () => {
  const { inbox, clock } = problems(() => new Promise(() => {}));
  for (let s = 0; s <= 120; s += 5) {
    inbox(new Error(s < 100 ? 'away' : 'full'));
    clock.advance(5_000);
  }
  expect(said.map((line) => line.replace('The inbox does not answer: ', ''))).toEqual(['away', 'away', 'full']);
});

test('while deliveries are not taken it does not answer, though a probe finds room; the next trouble is told again', async () => {
  const { inbox, isRefusing } = problems();
  let isOn = true;
  const refusing = { isOn: () => isOn, over: () => void said.push('over') };
  inbox(new Error('full'), refusing);
  inbox(new Error('full'), refusing);
  await turns(20);
  expect([said, isRefusing()]).toEqual([['The inbox does not answer: full'], true]);
  isOn = false;
  await turns(5);
  inbox(new Error('full once more'), refusing);
  expect(said.slice(1)).toEqual(['over', 'The inbox answers again.', 'The inbox does not answer: full once more']);
});

test('nothing is asked or told once serve ends', async () => {
  const asked: string[] = [];
  const { inbox, rejected, end } = problems(async () => void asked.push('asked'));
  inbox(new Error('gone'));
  rejected('no-match');
  rejected('no-match');
  end();
  await turns(5);
  expect(asked).toEqual([]);
  expect(said).toHaveLength(2);
});

test('serve tells of wrong signatures in one line, without the payload', { tags: ['long'] }, async () => {
  const world = await newWorld();
  const served = await serving(
    world,
    'listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, file: { path: a.jsonl } }]\n',
  );
  endings.push(() => served.end());
  const forged = (id: string) => deliver(served.url, body(id, { data: { note: 'canary' } }), 'another secret');
  expect(await Promise.all(['a', 'b', 'c'].map(forged))).toEqual([401, 401, 401]);
  const lines = served
    .said()
    .split('\n')
    .filter((line) => line.includes('with 401'));
  expect(lines).toHaveLength(1);
  expect(served.said()).not.toContain('canary');
});

const withMounts = allowed('Mounting a disk', 'unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');

withMounts(
  'serve and listen on a disk that was full say that the inbox answers again',
  { tags: ['long'] },
  async () => {
    const { folder: before, ...made } = await newWorld();
    const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'pipe' });
    endings.push(() => execFileSync('umount', ['-l', folder], { stdio: 'pipe' }));
    cpSync(before, folder, { recursive: true });
    const world = { ...made, folder };
    const config =
      'listen: { port: 0 }\ninbox: inbox\nsinks: [{ name: a, filter: "false", file: { path: a.jsonl } }]\n';
    const served = await serving(world, config);
    endings.push(() => served.end());
    const listener = await listening(world, [], { env: { SVC_WEBHOOK_SECRET: secret } });
    endings.push(() => listener.end());
    const filler = join(folder, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(8 << 20))).toThrow(/ENOSPC/u);
    const large = body('large', { data: { text: 'x'.repeat(400_000) } });
    const answers = [served.url, listener.url].map((url) => deliver(url, large));
    await served.until(() => served.said().includes('The inbox does not answer: '));
    await listener.until(() => listener.said.stderr.includes('The inbox cannot be written '));
    rmSync(filler);
    expect(await Promise.all(answers)).toEqual([204, 204]);
    await served.until(() => served.said().includes('The inbox answers again.'));
    await listener.until(() => listener.said.stderr.includes('The inbox answers again.\n'));
  },
);
