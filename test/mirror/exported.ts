import { readdirSync, readFileSync } from 'node:fs';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import type { CopyState } from '../../src/mirror/query/as-of.ts';
import { exportedColumns } from '../../src/mirror/query/export-rows.ts';
import { ask } from '../../src/mirror/query/query.ts';
import { type Table, tables } from '../../src/mirror/tables/tables.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import { inCopy } from './truth.ts';

export type Fields = Record<string, unknown>;

/** The rows of a file, whatever its format, each value as it stands there. */
export async function readRows(path: string): Promise<Fields[]> {
  if (path.endsWith('.jsonl')) return lines(await readFile(path, 'utf8')).map((line) => JSON.parse(line));
  if (path.endsWith('.csv')) return parse(await readFile(path), { columns: true });
  const file = await open(path);
  try {
    const byteLength = (await file.stat()).size;
    const slice = async (start: number, end = byteLength) => {
      const bytes = new Uint8Array(end - start);
      await file.read(bytes, 0, bytes.length, start);
      return bytes.buffer;
    };
    return (await parquetReadObjects({ file: { byteLength, slice } })) as Fields[];
  } finally {
    await file.close();
  }
}

const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');

type Manifest = {
  number: number;
  copy: CopyState;
  files: { table: string; file: string; rows: number; gone: number }[];
};

/** The exports in a folder, the oldest first, by what is on the disk. */
export const exportsIn = (dir: string): (Manifest & { readonly folder: string })[] =>
  readdirSync(dir)
    .filter((name) => name.startsWith('export-'))
    .sort()
    .map((name) => ({
      folder: join(dir, name),
      ...(JSON.parse(readFileSync(join(dir, name, 'export.json'), 'utf8')) as Manifest),
    }));

const keyOf = ({ key }: Table, row: Fields): string => key.map((name) => String(row[name])).join(':');

/** All exports one after the other: the last word on each row, and how often a row came as it was before. */
export async function addedUp(dir: string) {
  const all = new Map(tables.map((table) => [table.name, new Map<string, string>()]));
  let again = 0;
  for (const { folder, files } of exportsIn(dir)) {
    for (const { table: name, file, rows } of files) {
      const table = tables.find((one) => one.name === name);
      if (!table) throw new Error(`No table ${name}`);
      const found = await readRows(join(folder, file));
      if (found.length !== rows) throw new Error(`${file}: ${found.length} rows, not ${rows}`);
      for (const row of found) {
        const [key, text] = [keyOf(table, row), JSON.stringify(row)];
        if (all.get(name)?.get(key) === text) again++;
        all.get(name)?.set(key, text);
      }
    }
  }
  const rows = Object.fromEntries([...all].map(([name, byKey]) => [name, [...byKey.values()].sort()]));
  return { rows, again };
}

/** What the copy holds, as lines of JSON Lines. */
export const inTheCopy = (world: SandboxWorld): Promise<Record<string, string[]>> =>
  inCopy(world, async (store, account) => {
    const all: Record<string, string[]> = {};
    for (const table of tables) {
      const columns = exportedColumns(table);
      const names = columns.map(({ name }) => `"${name}"`).join(', ');
      const { rows } = await ask(store, account, `SELECT ${names} FROM ${table.name}`, new AbortController().signal);
      const texts: string[] = [];
      for await (const row of rows) {
        const cells = columns.map(({ name, type }, at) => [name, asExported(row[at], type)] as const);
        texts.push(JSON.stringify(Object.fromEntries(cells)));
      }
      all[table.name] = texts.sort();
    }
    return all;
  });

function asExported(value: unknown, type: string): unknown {
  if (value === null || value === undefined) return null;
  if (type === 'boolean') return Boolean(value);
  return type === 'json' ? JSON.parse(String(value)) : value;
}
