import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { scopes } from '../../src/api/operation.ts';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';
import { real, whereIs } from '../real-component.ts';
import { challenge, sampleClient, verifier } from './oauth-world.ts';

const inBrowser = real('chromium');

let browser: Browser | undefined;
let site: { url: string; callback: string };
let close: (() => Promise<void>)[];
/** What the browser brought to the client's callback. */
let brought: Record<string, string>[];

beforeAll(async () => {
  const executablePath = whereIs('chromium');
  if (!executablePath) return;
  // Without the last four Chromium looks for hosts of its own, which a closed network refuses.
  const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', ...quiet],
  });
});
afterAll(() => browser?.close());

beforeEach(async () => {
  brought = [];
  const client = createServer((incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url ?? '', 'http://127.0.0.1');
    if (pathname === '/callback') brought.push(Object.fromEntries(searchParams));
    outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<title>Back</title>Back at the client');
  });
  client.listen(0, '127.0.0.1');
  await once(client, 'listening');
  const callback = `http://127.0.0.1:${(client.address() as AddressInfo).port}/callback`;
  const sandbox = createSandbox({ seed: { clients: [{ ...sampleClient, redirect_uris: [callback] }] } });
  const server = await serve(sandbox, 0);
  site = { url: `http://127.0.0.1:${server.port}`, callback };
  close = [
    server.close,
    async () => {
      client.closeAllConnections();
      client.close();
    },
  ];
});
afterEach(() => Promise.all(close.map((end) => end())));

const consentUrl = (scope: string = scopes.join(' ')): string => {
  const query = {
    response_type: 'code',
    client_id: sampleClient.client_id,
    redirect_uri: site.callback,
    scope,
    state: 'sample-state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  };
  return `${site.url}/oauth/platform/authorize?${new URLSearchParams(query)}`;
};

/** The consent page in a browser of its own; whatever the page complains about fails the test. */
async function open(options: BrowserContextOptions = {}, scope?: string): Promise<Page> {
  const page = await (browser as Browser).newPage(options);
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(consentUrl(scope));
  return page;
}

/** The account and the scopes that the client got with what the browser brought. */
async function granted(): Promise<string> {
  const [{ code = '' } = {}] = brought;
  const form = {
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: site.callback,
    client_id: sampleClient.client_id,
    client_secret: sampleClient.client_secret,
  };
  const answer = await fetch(`${site.url}/oauth/platform/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token, scope } = (await answer.json()) as Record<string, string>;
  const authorization = `Bearer ${access_token}`;
  const account = await fetch(`${site.url}/platform/account`, { headers: { authorization } });
  return `${((await account.json()) as { name?: string }).name}: ${scope}`;
}

for (const javaScriptEnabled of [true, false]) {
  const how = javaScriptEnabled ? '' : ' without JavaScript';

  inBrowser(
    `a customer picks another account, unticks scopes and allows the rest${how}`,
    { tags: ['long'] },
    async () => {
      const page = await open({ javaScriptEnabled });
      await page.getByRole('radio', { name: 'Globex' }).check();
      for (const scope of scopes.slice(2)) await page.getByRole('checkbox', { name: scope }).uncheck();
      await page.getByRole('button', { name: 'Allow' }).click();
      await page.getByText('Back at the client').waitFor();
      expect(brought).toEqual([{ code: expect.any(String), state: 'sample-state' }]);
      expect(await granted()).toBe('Globex: identity branding:write');
    },
  );

  inBrowser(`a customer denies${how}`, { tags: ['long'] }, async () => {
    const page = await open({ javaScriptEnabled });
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Back at the client').waitFor();
    expect(brought).toEqual([{ error: 'access_denied', error_description: expect.any(String), state: 'sample-state' }]);
  });
}

inBrowser('the keyboard alone is enough: account, scopes and Allow', { tags: ['long'] }, async () => {
  const page = await open({}, 'identity tickets:read tickets:write');
  const { keyboard } = page;
  await keyboard.press('Tab');
  await keyboard.press('ArrowDown'); // Globex
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.press('Space'); // tickets:read off
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  expect(await page.locator(':focus').textContent()).toBe('Allow');
  await keyboard.press('Enter');
  await page.getByText('Back at the client').waitFor();
  expect(await granted()).toBe('Globex: identity tickets:write');
});

inBrowser('what has the focus is never hidden behind the buttons', { tags: ['long'] }, async () => {
  const page = await open({ viewport: { width: 400, height: 700 } });
  const buttons = await page.locator('.decision').boundingBox();
  for (const _ of ['account', ...scopes]) {
    await page.keyboard.press('Tab');
    const focused = await page.locator('.choice:focus-within').boundingBox();
    expect((focused?.y ?? 0) + (focused?.height ?? 0)).toBeLessThanOrEqual(buttons?.y ?? 0);
    expect(focused?.y).toBeGreaterThanOrEqual(0);
  }
});

inBrowser('unticking everything brings the form back, which can then be finished', { tags: ['long'] }, async () => {
  const page = await open({}, 'identity tickets:read');
  for (const box of await page.getByRole('checkbox').all()) await box.uncheck();
  await page.getByRole('button', { name: 'Allow' }).click();
  expect(await page.getByRole('alert').textContent()).toBe('Tick at least one permission, or deny.');
  await page.getByRole('checkbox', { name: 'identity' }).check();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByText('Back at the client').waitFor();
  expect(await granted()).toBe('Acme: identity');
});

inBrowser('another site can neither frame the page nor post its form', { tags: ['long'] }, async () => {
  const evil = createServer((_, outgoing) => {
    const target = consentUrl('identity').replaceAll('&', '&amp;');
    const form = `<form method="post" action="${target}"><input name="decision" value="allow">
      <input name="account_id" value="1"><input name="scope" value="identity"><button>Win</button></form>`;
    outgoing.writeHead(200, { 'content-type': 'text/html' });
    outgoing.end(`${form}<iframe src="${target}"></iframe>`);
  });
  evil.listen(0, '127.0.0.1');
  await once(evil, 'listening');
  const page = await open(); // Our page has been in this browser.
  await page.goto(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`);
  const framed = page.frames()[1];
  await framed?.waitForLoadState();
  expect(framed && (await framed.getByRole('button').count())).toBe(0);
  await page.getByRole('button', { name: 'Win' }).click();
  await page.getByText('This form is not valid any more.').waitFor();
  expect(brought).toEqual([]);
  evil.closeAllConnections();
  evil.close();
});

const views: [number, 'light' | 'dark'][] = [
  [400, 'light'],
  [400, 'dark'],
  [1200, 'light'],
  [1200, 'dark'],
];

for (const [width, colorScheme] of views) {
  inBrowser(
    `the page fits ${width} pixels in ${colorScheme} colours, and its text can be read`,
    { tags: ['long'] },
    async () => {
      const page = await open({ viewport: { width, height: 800 }, colorScheme });
      const look = await page.evaluate<Look>(lookScript);
      expect(look.overflows).toBe(false);
      expect(look.pairs.length).toBeGreaterThan(40);
      // WCAG 2, AA.
      for (const [what, text, ground] of look.pairs)
        expect([what, contrast(text, ground) >= 4.5]).toEqual([what, true]);
    },
  );
}

type Rgb = number[];
type Look = { overflows: boolean; pairs: [what: string, text: Rgb, ground: Rgb][] };

// A text, since it runs in the page, whose types are not those of the tests.
const lookScript = `(() => {
  const rgb = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
  const texts = document.querySelectorAll('h1, legend, .what, .detail, .aside, .lead, .after, .badge, .allow, .deny');
  const { scrollWidth, clientWidth } = document.documentElement;
  return {
    overflows: scrollWidth > clientWidth,
    pairs: [...texts].map((element) => {
      const { color, backgroundColor } = getComputedStyle(element);
      const behind = getComputedStyle(document.querySelector('main')).backgroundColor;
      const ground = backgroundColor === 'rgba(0, 0, 0, 0)' ? behind : backgroundColor;
      return [element.className || element.tagName, rgb(color), rgb(ground)];
    }),
  };
})()`;

function contrast(a: Rgb, b: Rgb): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(rgb: Rgb): number {
  const [r = 0, g = 0, b = 0] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
