import { mkdtemp } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { visitFile } from '../../../src/disk/place/visit-file.ts';
import { startInspector } from '../../../src/webhooks/inspector/server.ts';
import type { Line } from '../../../src/webhooks/store/event-line.ts';
import { openInbox } from '../../../src/webhooks/store/folder/inbox.ts';
import type { Arrival } from '../../../src/webhooks/store/line.ts';
import { endAfterEach } from '../../endings.ts';
import { real, whereIs } from '../../real-component.ts';
import { virtualClock } from '../../svc.ts';
import { listening, liveWorld } from '../listening.ts';

const endings = endAfterEach();

const envelope = (id: string, data: object = { ticket_number: 'T-1', subject: 'Printer' }) => ({
  event: 'ticket.created',
  id,
  created_at: '2026-01-02T03:04:05+00:00',
  data,
});
const arrival = (id: string, data?: object, more: Partial<Arrival> = {}): Arrival => ({
  id,
  event: 'ticket.created',
  at: '2026-01-02T03:04:05.000Z',
  headers: { 'x-svc-event': 'ticket.created', 'x-svc-signature': 'a'.repeat(64) },
  body: Buffer.from(JSON.stringify(envelope(id, data))),
  ...more,
});
const line = (id: string, data?: object): Line => ({
  kind: 'event',
  time: '2026-01-02T03:04:05.000Z',
  event: 'ticket.created',
  id,
  verdict: 'accepted',
  why: null,
  created_at: null,
  data: envelope(id, data).data,
  forward: null,
});

const key = 'key-of-this-run';

const idIn = (body: unknown): string => JSON.parse(Buffer.from(body as Uint8Array).toString()).id;

async function inspector(target?: string, visited?: () => void) {
  const inbox = await openInbox(await mkdtemp(join(tmpdir(), 'svc-inspector-')), { limit: 5000 });
  const replayed: string[] = [];
  const clock = virtualClock();
  let say: (line: Line) => void = () => {};
  const running = await startInspector({
    port: 0,
    key,
    ...(visited && { visited }),
    inbox,
    listening: 'http://127.0.0.1:8977/',
    target: () => target,
    watch: (watcher) => {
      say = watcher;
    },
    clock,
    timeoutMs: 1_000,
    exchange: async ({ url, body }) => {
      await clock.sleep(7);
      replayed.push(`${idIn(body)} ${url}`);
      return { status: 200, headers: {}, body: '' };
    },
  });
  endings.push(async () => {
    await running.close();
    await inbox.close();
  });
  return { ...running, inbox, replayed, say: (said: Line) => say(said), port: Number(new URL(running.url).port) };
}

/** As the page asks: with the key. */
const ask = (port: number, path: string, about?: Record<string, string>) => askBare(port, `${path}?key=${key}`, about);

function askBare(port: number, path: string, { method = 'GET', body = '', ...headers }: Record<string, string> = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }>((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

test.each([
  ['a foreign Host', { host: 'evil.example.com' }],
  ['the own name on another port', { host: '127.0.0.1:1' }],
  ['a name that was made to point here', { host: 'localhost.example.com' }],
])('%s is refused, for the page and for what it holds', async (_, headers) => {
  const { port, inbox, replayed } = await inspector('http://127.0.0.1:3000/');
  await inbox.add(arrival('evt_1'));
  for (const path of ['/', '/client.js', '/stream', '/deliveries/evt_1']) {
    expect((await ask(port, path, headers)).status).toBe(403);
  }
  expect((await ask(port, '/deliveries/evt_1/replay', { ...headers, method: 'POST' })).status).toBe(403);
  expect(replayed).toEqual([]);
});

test.each([
  ['another site', { origin: 'https://evil.example.com' }],
  ['another port of this machine', { origin: 'http://127.0.0.1:3000' }],
  ['a sandboxed frame or a file', { origin: 'null' }],
  ['another site that sends no Origin', { 'sec-fetch-site': 'cross-site' }],
  ['another port that sends no Origin', { 'sec-fetch-site': 'same-site' }],
])('%s is refused', async (_, headers) => {
  const { port, inbox, replayed } = await inspector('http://127.0.0.1:3000/');
  await inbox.add(arrival('evt_1'));
  expect((await ask(port, '/deliveries/evt_1', headers)).status).toBe(403);
  expect((await ask(port, '/deliveries/evt_1/replay', { ...headers, method: 'POST' })).status).toBe(403);
  expect(replayed).toEqual([]);
});

test('its own page may ask and replay, by either name of this machine', async () => {
  const { port, inbox, replayed } = await inspector('http://127.0.0.1:3000/');
  await inbox.add(arrival('evt_1'));
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const own = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
    const found = await ask(port, '/deliveries/evt_1', own);
    expect(JSON.parse(found.text)).toMatchObject({ id: 'evt_1', to: 'http://127.0.0.1:3000/', verdict: 'accepted' });
    expect((await ask(port, '/deliveries/evt_1/replay', { ...own, method: 'POST' })).status).toBe(200);
  }
  expect(replayed).toEqual(Array(2).fill('evt_1 http://127.0.0.1:3000/'));
});

test.each([
  ['no key', ''],
  ['an empty key', '?key='],
  ['a wrong key', '?key=key-of-another-run'],
  ['a longer key', `?key=${key}x`],
  ['a key among two', `?key=x&key=${key}`],
])('another user of this machine, who has %s, gets nothing', async (_, query) => {
  const { port, inbox, replayed } = await inspector('http://127.0.0.1:3000/');
  await inbox.add(arrival('evt_1'));
  const own = { host: `127.0.0.1:${port}`, origin: `http://127.0.0.1:${port}`, 'sec-fetch-site': 'same-origin' };
  for (const path of ['/', '/client.js', '/style.css', '/stream', '/deliveries/evt_1', '/elsewhere']) {
    const { status, text } = await askBare(port, path + query, own);
    expect(status).toBe(403);
    expect(text).toBe('Open the address that svc webhooks listen printed: it holds the key of this run.\n');
  }
  const replay = await askBare(port, `/deliveries/evt_1/replay${query}`, { ...own, method: 'POST' });
  expect(replay.status).toBe(403);
  expect(replayed).toEqual([]);
});

test('the address of the page holds the key, and no page that it leads to is told of it', async () => {
  const { url, port } = await inspector();
  expect(url).toBe(`http://127.0.0.1:${port}/?key=${key}`);
  const { headers } = await ask(port, '/');
  expect(headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
});

test('listen prints an address with a key of its own at each start', async () => {
  const keys = new Set<string | null>();
  for (let run = 0; run < 2; run++) {
    const made = await liveWorld();
    const running = await listening(made, ['--inspect', '--inspect-port', '0'], { env: { SVC_WEBHOOK_SECRET: 'x' } });
    await running.until(() => running.said.stderr.includes('Inspect the events at '));
    const printed = new URL(/Inspect the events at (\S+)/u.exec(running.said.stderr)?.[1] ?? '');
    expect((await fetch(printed)).status).toBe(200);
    expect((await fetch(printed.origin)).status).toBe(403);
    keys.add(printed.searchParams.get('key'));
    await running.end();
    made.sandbox.close();
  }
  expect([...keys].map((one) => one?.length)).toEqual([32, 32]);
});

test('a page may load nothing from elsewhere and run nothing but its own script', async () => {
  const { port } = await inspector();
  const { headers } = await ask(port, '/');
  const policy = String(headers['content-security-policy']);
  for (const rule of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
    expect(policy).toContain(rule);
  }
  expect(policy).not.toContain('unsafe');
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' });
});

test('other methods, paths, ids and bodies are plain refusals', async () => {
  const { port, inbox } = await inspector();
  await inbox.add(arrival('evt_1'));
  const statuses = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).status;
  expect(await statuses(port, '/elsewhere')).toBe(404);
  expect(await statuses(port, '/', { method: 'POST' })).toBe(405);
  expect(await statuses(port, '/deliveries/evt_2')).toBe(404);
  expect(await statuses(port, '/deliveries/%ff')).toBe(404);
  expect(await statuses(port, '/deliveries/evt_1/replay', { method: 'GET' })).toBe(404);
  const replay = (body: string) => ask(port, '/deliveries/evt_1/replay', { method: 'POST', body });
  expect((await replay('')).text).toContain('Give a URL');
  expect((await replay('{"to":"file:///etc/passwd"}')).status).toBe(422);
  expect((await replay('not json')).status).toBe(422);
  expect((await replay('x'.repeat(100_000))).status).toBe(422);
});

test('a port in use is no reason to go without the page', async () => {
  const first = await inspector();
  const second = await startInspector({
    port: first.port,
    key,
    inbox: first.inbox,
    listening: '',
    target: () => undefined,
    watch: () => {},
    clock: virtualClock(),
    timeoutMs: 1_000,
    exchange: async () => ({ status: 200, headers: {}, body: '' }),
  });
  expect(second.url).not.toBe(first.url);
  await second.close();
});

const inChromium = real('chromium');
let browser: Awaited<ReturnType<typeof chromium.launch>>;
/** One for all pages, each of which has an origin of its own. */
let context: BrowserContext;
beforeAll(async () => {
  const executablePath = whereIs('chromium');
  if (!executablePath) return;
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  context = await browser.newContext();
});
afterAll(() => browser?.close());

async function open(url: string): Promise<Page & { problems: string[] }> {
  const page = await context.newPage();
  endings.push(() => page.close());
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (asked) => {
    if (!asked.url().startsWith(new URL(url).origin)) problems.push(`asked ${asked.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector('body.live');
  return Object.assign(page, { problems });
}

inChromium(
  'a file on the disk leads a browser to the page, and svc is told of the visit',
  { tags: ['long'] },
  async () => {
    let visits = 0;
    const { url } = await inspector(undefined, () => visits++);
    const file = await visitFile(new URL(url));
    endings.push(async () => file.remove());
    const page = await context.newPage();
    endings.push(() => page.close());
    await page.goto(pathToFileURL(file.path).href);
    await page.waitForURL(url);
    await page.waitForSelector('body.live');
    expect(visits).toBe(1);
  },
);

test('what another site navigates to is the page alone, and only with the key', async () => {
  const { port } = await inspector();
  const navigation = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  const status = async (path: string, headers: Record<string, string>) => (await askBare(port, path, headers)).status;
  expect(await status(`/?key=${key}`, navigation)).toBe(200);
  expect(await status('/', navigation)).toBe(403);
  expect(await status('/?key=guessed', navigation)).toBe(403);
  expect(await status(`/stream?key=${key}`, navigation)).toBe(403);
  expect(await status(`/deliveries/evt_1?key=${key}`, navigation)).toBe(403);
  expect(await status(`/?key=${key}`, { ...navigation, 'sec-fetch-dest': 'iframe' })).toBe(403);
  expect(await status(`/?key=${key}`, { 'sec-fetch-site': 'cross-site' })).toBe(403);
});

inChromium(
  'the page shows what came before and what comes, newest first, without a reload',
  { tags: ['long'] },
  async () => {
    const { url, inbox, say } = await inspector();
    const page = await open(url);
    expect(await page.textContent('#nothing')).toContain(
      'svc webhooks trigger ticket.created --to http://127.0.0.1:8977/',
    );
    await inbox.add(arrival('evt_1'));
    say(line('evt_1'));
    say(line('evt_2', { ticket_number: 'T-2', subject: 'Scanner' }));
    await page.waitForSelector('.row >> nth=1');
    expect(await page.locator('.row .fields').allTextContents()).toEqual([
      expect.stringContaining('Scanner'),
      expect.stringContaining('Printer'),
    ]);
    await page.reload();
    await page.waitForSelector('.row');
    expect(await page.locator('.row').count()).toBe(1);
    expect(page.problems).toEqual([]);
  },
);

inChromium(
  'script in a payload, an id, an event or a header is shown as text and never runs',
  { tags: ['long'] },
  async () => {
    const { url, inbox, say } = await inspector();
    const evil = '<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>';
    const link = 'javascript:alert(4)';
    const data = { ticket_number: evil, subject: link, [evil]: { nested: [evil] }, __proto__x: evil };
    const headers = { 'x-svc-event': evil, 'x-sample': evil };
    await inbox.add(arrival(evil, data, { headers, event: evil }));
    await inbox.add(arrival('raw', {}, { body: Buffer.from(evil), unreadable: evil }));
    const page = await open(url);
    say({ ...line(evil, data), event: evil } as Line);
    await page.waitForSelector('.row >> nth=2');
    for (let n = 0; n < 3; n++) {
      await page.keyboard.press('j');
      await page.waitForSelector('#detail .headers');
    }
    expect(await page.textContent('#detail')).toContain(evil);
    expect(await page.locator('#detail :is(img, svg, script, a), #list :is(img, svg, script, a)').count()).toBe(0);
    await page.selectOption('#event', { index: 1 });
    expect(page.problems).toEqual([]);
  },
);

inChromium('search and filters leave what matches, and Escape clears the search', { tags: ['long'] }, async () => {
  const { url, inbox, say } = await inspector();
  for (let n = 1; n <= 30; n++)
    await inbox.add(arrival(`evt_${n}`, { ticket_number: `T-${n}`, subject: n === 7 ? 'Fax' : 'Printer' }));
  const page = await open(url);
  say({ ...line('x'), verdict: 'rejected', id: null, why: 'no-match', data: null } as Line);
  await page.waitForSelector('.row >> nth=30');
  await page.keyboard.press('/');
  await page.keyboard.type('fax t-7');
  expect(await page.locator('.row').count()).toBe(1);
  expect(await page.textContent('#count')).toBe('1 of 31 events');
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('#detail .tree');
  expect(await page.textContent('#detail .tree')).toContain('"Fax"');
  await page.keyboard.press('Escape');
  expect(await page.locator('.row').count()).toBe(31);
  await page.selectOption('#verdict', 'rejected');
  expect(await page.locator('.row .fields').allTextContents()).toEqual([expect.stringContaining('another secret')]);
  expect(page.problems).toEqual([]);
});

inChromium(
  'an event is looked at and replayed with the keyboard alone, and its forwarding is told',
  { tags: ['long'] },
  async () => {
    const { url, inbox, replayed } = await inspector('http://127.0.0.1:3000/hooks');
    await inbox.add(arrival('evt_1', { deep: { a: { b: { c: 'found' } } } }, { to: 'http://127.0.0.1:3000/hooks' }));
    const page = await open(url);
    await page.waitForSelector('.row');
    expect(await page.textContent('.row .pill')).toBe('waiting');
    await page.keyboard.press('j');
    await page.waitForSelector('.replay input');
    expect(await page.inputValue('.replay input')).toBe('http://127.0.0.1:3000/hooks');
    await page.keyboard.press('r');
    await page.waitForSelector('text=Replayed: 200 in 7 ms');
    expect(replayed).toEqual(['evt_1 http://127.0.0.1:3000/hooks']);
    // The page asks for the event anew after a replay.
    await page.waitForSelector('#detail table:has-text("Replayed")');
    expect(await page.textContent('.headers')).toContain('x-svc-signature');
    expect(page.problems).toEqual([]);
  },
);

inChromium('a delivery that had to wait changes its row once it is through', { tags: ['long'] }, async () => {
  const { url, say } = await inspector();
  const page = await open(url);
  const forward = { to: 'http://127.0.0.1:3000/', status: null, error: 'refused', ms: 1, tries: 1 };
  say({ ...line('evt_1'), forward: { ...forward, state: 'waiting' } } as Line);
  await page.waitForSelector('.pill.wait');
  const through = { ...forward, state: 'answered', status: 200, error: null, ms: 12, tries: 4 } as const;
  say({ kind: 'forward', time: '', event: 'ticket.created', id: 'evt_1', forward: through });
  await page.waitForSelector('.pill.good');
  expect(await page.textContent('.row .pill')).toBe('200 · 12 ms');
  expect(page.problems).toEqual([]);
});

inChromium('thousands of events and a payload of a mebibyte keep the page quick', { tags: ['long'] }, async () => {
  const { url, inbox, say } = await inspector();
  const items = Array.from({ length: 20_000 }, (_, n) => ({ n, text: `item number ${n} of many` }));
  await inbox.add(arrival('large', { items }));
  const page = await open(url);
  for (let n = 0; n < 2100; n++) say(line(`evt_${n}`));
  await page.waitForSelector('#count:text-is("2000 events")');
  await page.reload();
  await page.waitForSelector('.row');
  const start = Date.now();
  await page.keyboard.press('j');
  await page.waitForSelector('#detail .tree');
  expect(Date.now() - start).toBeLessThan(20_000);
  await page.locator('summary', { hasText: 'items' }).last().click();
  await page.waitForSelector('text=19800 more');
  expect(page.problems).toEqual([]);
});

inChromium('light and dark are both readable, by the contrast that WCAG asks for', { tags: ['long'] }, async () => {
  const { url, inbox } = await inspector('http://127.0.0.1:3000/');
  await inbox.add(arrival('evt_1'));
  const page = await open(url);
  await page.waitForSelector('.row');
  await page.keyboard.press('j');
  await page.waitForSelector('.tree');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const poor = await page.evaluate(contrasts);
    expect(poor).toEqual([]);
  }
});

/** Texts whose contrast with what is behind them is below 4.5 to 1. Runs in the page. */
function contrasts(): string[] {
  const rgb = (color: string) => (color.match(/[\d.]+/gu) ?? []).map(Number);
  const luminance = (color: string) => {
    const [r = 0, g = 0, b = 0] = rgb(color).map((part) => {
      const share = part / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the page's own types are not those of this test
  const page = globalThis as any;
  const behind = (element: { parentElement: unknown }): string => {
    for (let at = element; at; at = at.parentElement as typeof element) {
      const color: string = page.getComputedStyle(at).backgroundColor;
      if (rgb(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const poor: string[] = [];
  for (const element of page.document.querySelectorAll('body *')) {
    const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
    if (!text || element.offsetParent === null) continue;
    const [one, two] = [luminance(page.getComputedStyle(element).color), luminance(behind(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) poor.push(`${element.tagName} ${element.className} ${element.textContent.slice(0, 30)}: ${ratio}`);
  }
  return poor;
}

test('what arrives while a page is told of the past is told once, behind it', async () => {
  const { port, inbox, say } = await inspector();
  await inbox.add(arrival('evt_1'));
  const { latest } = inbox;
  inbox.latest = async (count) => {
    say(line('evt_2'));
    await inbox.add(arrival('evt_3'));
    say(line('evt_3'));
    return latest(count);
  };
  const text = await new Promise<string>((resolve, reject) => {
    let seen = '';
    const asking = request({ host: '127.0.0.1', port, path: `/stream?key=${key}` }, (response) => {
      response.on('data', (chunk) => {
        seen += chunk;
        if (seen.includes('evt_4')) {
          asking.destroy();
          resolve(seen);
        }
      });
      const after = () => say(line('evt_4'));
      response.once('data', after);
    });
    asking.on('error', reject);
    asking.end();
  });
  const told = text.split('\n\n').flatMap((event) => event.match(/evt_\d/gu) ?? []);
  expect(new Set(told)).toEqual(new Set(['evt_1', 'evt_2', 'evt_3', 'evt_4']));
  expect(text.match(/"id":"evt_3"/gu)).toHaveLength(1);
});
