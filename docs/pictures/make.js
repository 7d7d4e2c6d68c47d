// Makes the pictures of the README from the built tool: `npm run build && npm run pictures`. Needs Chromium.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { chromium } from 'playwright-core';

const here = fileURLToPath(new URL('.', import.meta.url));
const bin = join(here, '..', '..', 'bin', 'svc.js');
const home = mkdtempSync(join(tmpdir(), 'svc-pictures-'));
const env = {
  ...process.env,
  SVC_CONFIG_DIR: home,
  SVC_STATE_DIR: home,
  SVC_TOKEN_STORE: 'file',
  SVC_WEBHOOK_SECRET: 'sample',
};

/** svc's own colours, for a dark ground. */
const colors = { 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 34: '#79c0ff', 35: '#d2a8ff', 36: '#76e3ea' };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const children = [];
try {
  await consentPage();
  await inspector();
  await terminal();
} finally {
  for (const child of children) child.kill('SIGTERM');
  await browser.close();
  rmSync(home, { recursive: true, force: true });
}

async function consentPage() {
  const { auth_url, client_id, redirect_uri } = JSON.parse(
    await firstLine(['sandbox', 'start', '--port', '0', '--json']),
  );
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri,
    scope: 'identity contacts:read contacts:write tickets:read tickets:write webhooks:manage',
    state: 'picture',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  await picture(`${auth_url}/oauth/platform/authorize?${query}`, 'consent', { width: 620, height: 760 });
}

async function inspector() {
  const told = await lineWith(
    ['webhooks', 'listen', '--port', '0', '--inspect'],
    /http:\/\/127\.0\.0\.1:\d+(?:\/\?key=\S+)?/gu,
    2,
  );
  const [receiver, page] = told;
  for (const event of ['contact.created', 'ticket.created', 'changelog.published', 'feedback.created']) {
    await execa(process.execPath, [bin, 'webhooks', 'trigger', event, '--to', receiver], { env });
  }
  await picture(page, 'inspector', { width: 1100, height: 640 }, async (tab) => {
    await tab.locator('#list .row').filter({ hasText: 'ticket.created' }).first().click();
  });
}

/** What a terminal shows, set in a page: the colours are svc's own. */
async function terminal() {
  const script = 'svc contacts list --limit 4; echo; svc tickets get 8; echo; svc roadmap get';
  const { stdout } = await execa(
    'script',
    [
      '-qec',
      `stty cols 100 rows 200; ${process.execPath} ${bin} sandbox exec -- sh -c ${JSON.stringify(script)}`,
      '/dev/null',
    ],
    { env: { ...env, FORCE_COLOR: '1', PAGER: 'cat', TERM: 'xterm-256color' } },
  );
  const tab = await browser.newPage({ viewport: { width: 940, height: 400 }, deviceScaleFactor: 2 });
  await tab.setContent(`<body style="margin:0;background:#16181d"><pre style="margin:0;padding:20px 24px;color:#d7dae0;
    font:14px/1.45 'DejaVu Sans Mono',monospace;display:inline-block">${toHtml(stdout)}</pre></body>`);
  await tab.locator('pre').screenshot({ path: join(here, 'terminal.png') });
}

function toHtml(text) {
  const safe = text.replaceAll('\r', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of colours
  return safe.replace(/\u001b\[(\d+)m/gu, (_, code) => {
    if (colors[code]) return `<span style="color:${colors[code]}">`;
    if (code === '1') return '<span style="font-weight:bold">';
    if (code === '2') return '<span style="opacity:.6">';
    return '</span>';
  });
}

async function picture(url, name, viewport, before = async () => {}) {
  const tab = await browser.newPage({ viewport, deviceScaleFactor: 2 });
  await tab.goto(url);
  await before(tab);
  await tab.screenshot({ path: join(here, `${name}.png`) });
}

function start(argv) {
  const child = spawn(process.execPath, [bin, ...argv], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  return child;
}

async function firstLine(argv) {
  for await (const line of createInterface({ input: start(argv).stdout })) return line;
  throw new Error(`${argv.join(' ')} said nothing`);
}

/** The first `count` matches in what the command says on standard error. */
async function lineWith(argv, pattern, count) {
  const found = [];
  for await (const line of createInterface({ input: start(argv).stderr })) {
    found.push(...(line.match(pattern) ?? []));
    if (found.length >= count) return found;
  }
  throw new Error(`${argv.join(' ')} ended early`);
}
