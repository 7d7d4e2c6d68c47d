import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, expect, test } from 'vitest';
import { globalFlags } from '../../src/command/global-flags.ts';
import { manPages } from '../../src/program/man.ts';
import { topicTexts } from '../../src/program/topic-texts.ts';
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

/** The titles of a help and the flags below each, such as `--limit <N>`, but for what every command has. */
const flagsOf = (help: string): string[] =>
  help
    .replace(/^Global Flags:\n(?: .*\n?)+/mu, '')
    .match(/^(?:[A-Z][^:\n]*:$| {2}-\S+(?: -\S+)?(?: <[^>]+>)?)/gmu)
    ?.map((line) => line.trim().replace(/^[A-Z].*:$/u, (title) => title.slice(0, -1).toUpperCase()))
    .filter((line) => line !== '-h, --help' && !otherTitles.has(line))
    // Every help has `Flags:`, if only for --help.
    .filter((line, i, all) => line.startsWith('-') || all[i + 1]?.startsWith('-')) ?? [];

/** The same of a page. */
const flagsIn = (page: string): string[] =>
  [...page.matchAll(/^\.SH "?(.*?)"?$|^\.TP\n\.B "(.*)"$/gmu)]
    .map(([, title, term = '']) => title ?? plain(term))
    .filter((line) => /^[A-Z-]/u.test(line) && !otherTitles.has(line));

const otherTitles = new Set(['NAME', 'SYNOPSIS', 'DESCRIPTION', 'COMMANDS', 'EXAMPLES', 'SEE ALSO', 'ARGUMENTS']);

/** The words of every command, by the name of its page. */
const commands = new Map(
  [...readFileSync(`${import.meta.dirname}/help.txt`, 'utf8').matchAll(/^── (svc .+) ──$/gmu)].map(([, path = '']) => [
    `${path.replaceAll(' ', '-')}.1`,
    path.split(' ').slice(1),
  ]),
);

test('every command of the help has a page, and no other', () => {
  expect([...pages.keys()].sort()).toEqual(['svc.1', ...commands.keys()].sort());
});

test('a page says what the help says: usage, every flag, every word about it, every example', async () => {
  const world = sandboxWorld();
  for (const [name, path] of commands) {
    const page = pages.get(name) ?? '';
    const help = (await svc(world, [...path, '--help'], { columns: 120 })).stdout;
    const seen = words(plain(page));
    const [, usage = ''] = /^Usage: (.*)$/mu.exec(help) ?? [];
    expect(seen, name).toContain(words(usage));
    expect([name, flagsIn(page)]).toEqual([name, flagsOf(help)]);
    const inHelp = words(help.replaceAll(/ \\\n +/gu, ' '));
    for (const about of page.matchAll(/^\.TP\n\.B ".*"\n((?:[^.].*\n|\\&.*\n)+)/gmu)) {
      expect(inHelp, name).toContain(words(plain(about[1] ?? '')).trim());
    }
    const [, examples = ''] = /^\.SH EXAMPLES\n\.nf\n([\s\S]*?)\n\.fi$/mu.exec(page) ?? [];
    for (const line of plain(examples).split('\n')) expect(inHelp, name).toContain(words(line));
  }
});

test('svc(1) has the global flags and all topics', () => {
  const seen = words(plain(pages.get('svc.1') ?? ''));
  for (const [term, about] of globalFlags) expect(seen).toContain(`${term}" ${about}`);
  for (const { name, isListed } of topics) {
    if (isListed) expect(seen, name).toContain(words(topicTexts[name](72).trim()));
  }
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
