// @module-tag long
// The pages of the report and of a person, in a real browser: whole at every width, on paper, and without a request.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, test as always, beforeAll, expect } from 'vitest';
import { plain } from '../../src/answers/report-md.ts';
import { ok } from '../mirror/engines.ts';
import { inCopy } from '../mirror/truth.ts';
import { real, whereIs } from '../real-component.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { writeRows } from './rows.ts';

const inBrowser = real('chromium');

let browser: Browser | undefined;
const pages: Record<string, string> = {};

/** Ends every element that it could stand in, and what a browser would do with it. */
const hostile = `"></title></style></svg></td><script>document.title='taken'</script><img src=x onerror="document.title='taken'">`;

beforeAll(async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  await ok(world, 'mirror pull');
  const now = world.clock.now().getTime();
  const at = (days: number) => new Date(now - days * 86_400_000).toISOString();
  const contact = { contact_id: 99_001, name: hostile, last_name: 'W'.repeat(300), email: 'x@example.com' };
  await inCopy(world, (store, account) =>
    store.write((sql) =>
      writeRows(sql, account, {
        contacts: [{ ...contact, created_at: at(3), metadata: { [hostile]: hostile } }],
        tickets: [
          {
            id: 99_001,
            ticket_number: 'H-1',
            subject: hostile,
            source: hostile,
            contact,
            created_at: at(3),
            status: 'open',
          },
        ],
        ticket_messages: [
          {
            ticket_id: 99_001,
            id: 1,
            direction: 'in',
            sender_name: hostile,
            body: `${hostile}\n\u202Eevil`,
            created_at: at(3),
          },
        ],
        feedback: [{ id: 99_001, title: hostile, vote_count: 5_000 }],
      }),
    ),
  );
  const report = 'report --since 30d --compare --zone Europe/Berlin -o html';
  pages.report = (await ok(world, report)).stdout;
  const zip = join(world.folder, 'person.zip');
  await ok(world, ['contacts', 'history', '99001', '--zip', zip]);
  pages.person = strFromU8(unzipSync(readFileSync(zip))['person.html'] ?? new Uint8Array());
  const executablePath = whereIs('chromium');
  if (executablePath) browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
});
afterAll(() => browser?.close());

always('neither page has a script, or anything that is loaded', () => {
  for (const page of Object.values(pages)) {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<(?:script|img|link|iframe|object|a)\b|\bsrc=["']|\bhref=|@import|url\(/iu);
  }
  expect(pages.report).toContain('<svg');
});

const cases = ['report', 'person'].flatMap((name) =>
  [320, 800, 1600].flatMap((width) => (['light', 'dark'] as const).map((scheme) => ({ name, width, scheme }))),
);

for (const { name, width, scheme } of cases) {
  inBrowser(
    `the ${name} at ${width} px, ${scheme}: whole, with no request, and nothing of a customer is obeyed`,
    async () => {
      const page = await (browser as Browser).newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
      const asked: string[] = [];
      const complaints: string[] = [];
      page.on('request', (request) => void asked.push(request.url()));
      page.on('console', (message) => void complaints.push(message.text()));
      await page.setContent(pages[name] ?? '', { waitUntil: 'load' });
      expect(asked.filter((url) => !url.startsWith('about:'))).toEqual([]);
      expect(complaints).toEqual([]);
      expect(await page.title()).not.toBe('taken');
      const size = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]');
      const [needed, there] = size as [number, number];
      expect(needed).toBeLessThanOrEqual(there);
      const back = String(await page.evaluate('getComputedStyle(document.body).backgroundColor'));
      expect(back).toBe(scheme === 'dark' ? 'rgb(22, 25, 29)' : 'rgb(255, 255, 255)');
      const folder = process.env.SVC_TEST_PICTURES;
      if (folder) await page.screenshot({ path: join(folder, `${name}-${width}-${scheme}.png`), fullPage: true });
      await page.close();
    },
  );
}

inBrowser('on paper the report is black on white, with its bars', async () => {
  const page = await (browser as Browser).newPage({ viewport: { width: 800, height: 900 }, colorScheme: 'dark' });
  await page.setContent(pages.report ?? '', { waitUntil: 'load' });
  const pdf = await page.pdf({ format: 'A4' });
  expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
  await page.emulateMedia({ media: 'print' });
  expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)');
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
  expect(await page.evaluate("getComputedStyle(document.querySelector('rect.fill')).fill")).toBe('rgb(37, 99, 184)');
  const folder = process.env.SVC_TEST_PICTURES;
  if (folder) {
    writeFileSync(join(folder, 'report.pdf'), pdf);
    await page.screenshot({ path: join(folder, 'report-print.png'), fullPage: true });
  }
  await page.close();
});

always.each([
  ['From a copy of 2026-11-27 20:04.', 'From a copy of 2026-11-27 20:04.'],
  ['00:00', '00:00'],
  ['a + b - c & d (e)!', 'a + b - c & d (e)!'],
  ['- x', '\\- x'],
  ['---', '\\---'],
  ['1. x', '1\\. x'],
  ['1) x', '1\\) x'],
  ['===', '\\==='],
  ['https://evil.example', 'https\\://evil.example'],
  ['mailto:x', 'mailto\\:x'],
  [':100: :+1:', '\\:100: \\:+1:'],
  ['![x](http://y) | <b> &lt; `c` ~~d~~ #1', '!\\[x\\](http\\://y) \\| \\<b\\> \\&lt; \\`c\\` \\~\\~d\\~\\~ \\#1'],
])('as Markdown %j is %j', (text, written) => {
  expect(plain(text)).toBe(written);
});
