import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { globalFlags } from '../../src/program/global-flags.ts';
import { manPages } from '../../src/program/man.ts';
import { topics } from '../../src/program/topics.ts';
import { real } from '../real-component.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

let pages: ReadonlyMap<string, string>;
beforeAll(async () => {
  pages = await manPages('2026-01-31');
});

/** What a reader sees of roff that we write: no requests, no escapes, one space between words. */
const plain = (roff: string): string =>
  roff
    .replaceAll(/^\.(?:B|BR|SH) /gmu, '')
    .replaceAll(/^\.[A-Za-z]+.*$/gmu, '')
    .replaceAll(/\\\[u([0-9A-F]+)\]/gu, (_, hex) => String.fromCodePoint(Number.parseInt(hex, 16)))
    .replaceAll('\\(dq', '"')
    .replaceAll('\\e', '\0')
    .replaceAll('\\&', '')
    .replaceAll('\\-', '-')
    .replaceAll('\0', '\\');

const words = (text: string): string => text.split(/\s+/u).join(' ');

/** The terms in a part of a help, such as `--limit <N>`. */
const termsIn = (help: string, title: string): string[] => {
  const [, part = ''] = new RegExp(`^${title}:\\n((?: .*\\n?)+)`, 'mu').exec(help) ?? [];
  return [...part.matchAll(/^ {2}(-\S+(?: -\S+)?(?: <[^>]+>)?)/gmu)].map(([, term]) => term ?? '');
};

test('every command of the help has a page, and no other', async () => {
  const help = await import('node:fs').then(({ readFileSync }) =>
    readFileSync(`${import.meta.dirname}/help.txt`, 'utf8'),
  );
  const commands = [...help.matchAll(/^── svc (.+) ──$/gmu)].map(
    ([, path = '']) => `svc-${path.replaceAll(' ', '-')}.1`,
  );
  expect([...pages.keys()].sort()).toEqual(['svc.1', ...commands].sort());
});

test('a page says what the help says: usage, every flag, every word about it, every example', async () => {
  const world = sandboxWorld();
  for (const [name, page] of pages) {
    if (name === 'svc.1') continue;
    const help = (await svc(world, [...pathOf(name), '--help'], { columns: 120 })).stdout;
    const seen = words(plain(page));
    const [, usage = ''] = /^Usage: (.*)$/mu.exec(help) ?? [];
    expect(seen, name).toContain(words(usage));
    const flags = termsIn(help, 'Flags').filter((term) => !term.startsWith('-h, --help'));
    const told = [...page.matchAll(/^\.TP\n\.B "(.*)"$/gmu)].map(([, term = '']) => plain(term));
    expect([name, told.filter((term) => term.startsWith('-'))]).toEqual([name, flags]);
    const inHelp = words(help.replaceAll(/ \\\n +/gu, ' '));
    for (const about of page.matchAll(/^\.TP\n\.B ".*"\n((?:[^.].*\n|\\&.*\n)+)/gmu)) {
      expect(inHelp, name).toContain(words(plain(about[1] ?? '')).trim());
    }
    const [, examples = ''] = /^\.SH EXAMPLES\n\.nf\n([\s\S]*?)\n\.fi$/mu.exec(page) ?? [];
    for (const line of plain(examples).split('\n')) expect(inHelp, name).toContain(words(line));
  }
}, 60_000);

/** The words of a command whose own name may have a dash; no command has one today. */
const pathOf = (name: string): string[] => name.replace(/^svc-|\.1$/gu, '').split('-');

test('svc(1) has the global flags and all topics', () => {
  const seen = words(plain(pages.get('svc.1') ?? ''));
  for (const [term, about] of globalFlags) expect(seen).toContain(`${term}" ${about}`);
  for (const { name, text } of topics) expect(seen, name).toContain(words(text(72).trim()));
});

real('mandoc')('no page has anything that mandoc would complain about', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-man-'));
  try {
    for (const [name, page] of pages) await writeFile(join(folder, name), page);
    const ran = await execa('mandoc', ['-Tlint', ...pages.keys()], { cwd: folder, reject: false });
    expect(ran).toMatchObject({ stdout: '', exitCode: 0 });
  } finally {
    await rm(folder, { recursive: true });
  }
});
