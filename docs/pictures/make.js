// Makes the pictures of the README from the built tool: `npm run build && npm run pictures`. Needs Chromium.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { spawn as spawnTerminal } from '@lydell/node-pty';
import headless from '@xterm/headless';
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

/** Of the terminals on which the inbox is shown. */
const grounds = { dark: { back: '#16181d', text: '#d7dae0' }, light: { back: '#ffffff', text: '#1f2328' } };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const children = [];
try {
  await consentPage();
  await inspector();
  await terminal();
  await inbox();
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

/** The queue on a real terminal, on a dark and on a light ground. */
async function inbox() {
  const size = { cols: 120, rows: 26 };
  const screen = new headless.Terminal({ ...size, allowProposedApi: true });
  const script = `${process.execPath} ${bin} mirror pull --quiet > /dev/null; ${process.execPath} ${bin} inbox`;
  const argv = [bin, 'sandbox', 'exec', '--rate-limit', 'off', '--', 'sh', '-c', script];
  const pty = spawnTerminal(process.execPath, argv, { ...size, env: { ...env, TERM: 'xterm-256color' } });
  let cells;
  try {
    let shown = Promise.resolve();
    pty.onData((bytes) => {
      shown = new Promise((resolve) => screen.write(bytes, resolve));
    });
    const shows = async (text) => {
      for (let tries = 0; tries < 300; tries++) {
        await shown;
        const lines = cellsOf(screen).map((row) => row.map(({ text }) => text).join(''));
        if (lines.some((line) => line.includes(text))) return;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`the inbox does not show ${text}`);
    };
    await shows('T-1005  Import refuses our CSV');
    await shows('requests left');
    for (const key of 'jjx') pty.write(key);
    await shows('1 marked');
    await shows('Paula Moreau  paula');
    cells = cellsOf(screen);
  } finally {
    pty.kill('SIGTERM');
  }
  for (const [name, ground] of Object.entries(grounds)) {
    const tab = await browser.newPage({ viewport: { width: 1200, height: 600 }, deviceScaleFactor: 2 });
    await tab.setContent(`<body style="margin:0;background:${ground.back}"><pre style="margin:0;padding:18px 20px;color:${ground.text};
      background:${ground.back};font:14px/1.4 'DejaVu Sans Mono',monospace;display:inline-block">${cellsToHtml(cells, ground)}</pre></body>`);
    await tab.locator('pre').screenshot({ path: join(here, `inbox-${name}.png`) });
  }
}

function cellsOf(screen) {
  const { active } = screen.buffer;
  return Array.from({ length: screen.rows }, (_, row) => {
    const line = active.getLine(active.viewportY + row);
    return Array.from({ length: screen.cols }, (_, column) => {
      const cell = line?.getCell(column);
      return {
        text: cell?.getWidth() === 0 ? '' : cell?.getChars() || ' ',
        bold: Boolean(cell?.isBold()),
        dim: Boolean(cell?.isDim()),
        inverse: Boolean(cell?.isInverse()),
        color: cell?.isFgPalette() ? cell.getFgColor() : undefined,
      };
    });
  });
}

/** Of the 256 colours those of the cube and the greys; the sixteen are each theme's own. */
function rgbOf(color) {
  if (color < 16) return undefined;
  if (color >= 232) return `rgb(${[0, 0, 0].map(() => 8 + (color - 232) * 10)})`;
  const part = (by) => [0, 95, 135, 175, 215, 255][Math.floor((color - 16) / by) % 6];
  return `rgb(${[part(36), part(6), part(1)]})`;
}

function cellsToHtml(cells, { back, text }) {
  return cells
    .map((row) =>
      row
        .map((cell) => {
          const color = (cell.color !== undefined && rgbOf(cell.color)) || text;
          const style = [
            cell.inverse ? `background:${text};color:${back}` : `color:${color}`,
            cell.bold ? 'font-weight:bold' : '',
            cell.dim ? 'opacity:.6' : '',
          ];
          return `<span style="${style.filter(Boolean).join(';')}">${cell.text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</span>`;
        })
        .join(''),
    )
    .join('\n');
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
