import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import type { Exchange, HttpResponse } from '../../src/context.ts';
import { createWorld, svc } from '../svc.ts';

// Real exports with the reading that a person expects. They are other people's files, so they stay beside the
// repository: what this needs of them is said in their README.

type Case = {
  readonly file: string;
  readonly kind: 'cells' | 'contacts' | 'refused' | 'says';
  readonly args?: readonly string[];
  readonly contacts?: readonly Record<string, unknown>[];
  readonly rejected?: number;
  readonly says?: string;
  readonly encoding?: string;
  readonly delimiter?: string;
};

const corpus = join(import.meta.dirname, '..', '..', '..', 'shared', 'corpus', 'csv');

function casesOfCorpus(): readonly Case[] {
  try {
    return JSON.parse(readFileSync(join(corpus, 'manifest.json'), 'utf8')).cases.map(withoutGroups);
  } catch {
    return [];
  }
}

/** Its expectations are older than the rule that a program's own groups are no tags. */
function withoutGroups(one: Case): Case {
  const contacts = one.contacts?.map(({ tags, ...contact }) => {
    const own = Array.isArray(tags) ? tags.filter((tag: string) => !tag.startsWith('* ')) : [];
    return { ...contact, ...(own.length > 0 && { tags: own }) };
  });
  return contacts ? { ...one, contacts } : one;
}

const cases = casesOfCorpus();

const json = (value: unknown): HttpResponse => ({ status: 200, headers: {}, body: JSON.stringify(value) });

async function sync({ file, kind, args = [], encoding }: Case) {
  const sent: Record<string, unknown>[] = [];
  const exchange: Exchange = async ({ body }) => {
    if (body === undefined) return json({ account_id: 1, name: 'Acme', billing_active: true, setup_url: null });
    const { contacts } = JSON.parse(String(body));
    sent.push(...contacts);
    return json({ created: contacts.length, updated: 0, errors: [] });
  };
  const world = createWorld(exchange, { env: { SVC_BASE_URL: 'https://service.test', SVC_API_KEY: 'k' } });
  const rejects = join(world.folder, 'rejects.csv');
  const flags = [
    ...args,
    ...(kind === 'says' || kind === 'cells' ? ['--dry-run'] : []),
    ...(kind === 'cells' ? ['--map', '#1=email', '--rejects', rejects] : []),
    ...(encoding ? ['--encoding', encoding] : []),
  ];
  const ran = await svc(world, ['contacts', 'sync', join(corpus, 'files', file), '--json', ...flags]);
  return { ...ran, sent, rejects };
}

/** Phones are compared by what is dialled. */
const comparable = (contact: Readonly<Record<string, unknown>>) => ({
  ...contact,
  ...(typeof contact.phone === 'string' && { phone: contact.phone.replaceAll(/[^+\d]/gu, '') }),
});

/** A regular expression of another language, whose flags stand in groups. */
const pattern = (text: string): RegExp => new RegExp(text.replaceAll(/\(\?i:?/gu, '(?:').replaceAll('(?:)', ''), 'iu');

async function textOf({ file, encoding }: Case): Promise<string> {
  const bytes = await readFile(join(corpus, 'files', file));
  const raw = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
  const [first, second] = raw;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(raw);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(raw);
  return new TextDecoder(encoding ?? 'utf-8').decode(raw);
}

const read = (text: string, delimiter: string): string[][] =>
  parse(text, {
    delimiter,
    bom: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
  });

async function expectCells(one: Case): Promise<void> {
  const { rejects, stdout } = await sync(one);
  expect(JSON.parse(stdout)).toHaveProperty('rows');
  const text = await textOf(one);
  // Text beside the quotes of a cell is read differently everywhere; ours is Excel's way (csv.test.ts).
  if (text.replaceAll(/(?<=^|[,;\t|\r\n])"(?:[^"]|"")*"(?=$|[,;\t|\r\n])/gu, '').includes('"')) return;
  const [firstLine = ''] = text
    .replaceAll(/"[^"]*"/gu, '')
    .trimStart()
    .split(/[\r\n]/u);
  const counts = [',', ';', '\t', '|'].map((each) => [each, firstLine.split(each).length] as const);
  const delimiter = one.delimiter ?? counts.toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? ',';
  const all = read(text, delimiter).filter((cells) => cells.some((cell) => cell.trim() !== ''));
  const [header = [], ...rows] = read(await readFile(rejects, 'utf8'), delimiter);
  const width = header.length - 2;
  const at = all.findIndex((cells) => cells.join('\n') === header.slice(0, width).join('\n'));
  expect(at).toBeGreaterThanOrEqual(0);
  const padded = all.slice(at + 1).map((cells) => [...cells, ...Array(Math.max(0, width - cells.length)).fill('')]);
  const kept = rows.map((cells) => [...cells.slice(0, width), ...cells.slice(width + 2)]);
  // What looks like an address to one may look like none to the other.
  const plainly = (records: readonly string[][]) => records.filter(([first = '']) => !first.includes('@'));
  expect(plainly(kept)).toEqual(plainly(padded));
}

describe('the corpus of real exports', () => {
  test('is there', ({ skip }) => {
    skip(cases.length === 0, '../shared/corpus/csv is not beside this repository');
    expect(cases.length).toBeGreaterThan(50);
  });

  test.for(cases)('$file, $kind $args', async (one) => {
    if (one.kind === 'cells') return expectCells(one);
    const { exitCode, stdout, stderr, sent } = await sync(one);
    switch (one.kind) {
      case 'contacts':
        expect(sent.map(comparable)).toMatchObject(
          (one.contacts ?? []).map((contact) =>
            // An empty text or list is one that is not sent.
            comparable(Object.fromEntries(Object.entries(contact).filter(([, value]) => String(value) !== ''))),
          ),
        );
        expect(JSON.parse(stdout).rejected).toBe(one.rejected);
        return;
      case 'refused':
        expect({ exitCode, sent }).toEqual({ exitCode: 2, sent: [] });
        expect(stderr).toMatch(pattern(one.says ?? ''));
        return;
      case 'says':
        expect([0, 8]).toContain(exitCode);
        expect(stderr).toMatch(pattern(one.says ?? ''));
    }
  });
});
