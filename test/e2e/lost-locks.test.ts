// Every command that holds a lock over several requests, and loses it after one of them: nothing more is sent.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { stealLocks } from '../locks.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const rows = 40;
const csv = (header: string, row: (n: number) => string) =>
  `${header}\n${Array.from({ length: rows }, (_, n) => row(n + 1)).join('\n')}\n`;

const files: Readonly<Record<string, string>> = {
  'tickets.csv': csv('subject', (n) => `Row ${n}`),
  'notes.csv': csv('id,body', (n) => `1,Note ${n}`),
  'updates.csv': csv('id,priority', (n) => `${(n % 3) + 1},${n % 4}`),
  'contacts.csv': csv('email,name', (n) => `row${n}@example.com,Row ${n}`),
  'many.csv': `email\n${Array.from({ length: 3000 }, (_, n) => `many${n}@example.com`).join('\n')}\n`,
  'CHANGELOG.md': '# Changelog\n\n## 9.9.9 - 2026-02-01\n\n### Added\n\n- A thing.\n',
};

test.each([
  ['tickets create --from tickets.csv --yes --concurrency 1', 'POST', 5, /the journal of this file/u],
  ['tickets create --from tickets.csv --yes --concurrency 4', 'POST', 5, /the journal of this file/u],
  ['tickets note --from notes.csv --yes', 'POST', 5, /the journal of this file/u],
  ['tickets update --from updates.csv --yes', 'PATCH', 5, /the journal of this file/u],
  ['contacts sync many.csv --yes --concurrency 1', 'POST', 2, /the journal of this sync/u],
  ['changelog release 9.9.9 --from CHANGELOG.md', 'POST', 1, /the release of this version/u],
  ['mirror pull', 'GET', 4, /the copy of this account/u],
])('%s sends nothing after its lock was taken, and says by whom', async (line, method, nth, what) => {
  const world = sandboxWorld({ rateLimit: 'off' });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(world.folder, name), text);
  let asked = 0;
  let after = 0;
  let stolen = 0;
  const exchange: Exchange = async (request) => {
    if (stolen > 0) after++;
    const answer = await world.exchange(request);
    if (request.method === method && ++asked === nth) stolen = stealLocks(world.folder);
    return answer;
  };
  const argv = line.split(' ').map((word) => (word in files ? join(world.folder, word) : word));
  const ran = await svc({ ...world, exchange }, argv);
  expect({ stolen: stolen > 0, after }, ran.stderr).toEqual({ stolen: true, after: 0 });
  expect(ran.exitCode, ran.stderr).toBe(1);
  expect(ran.stderr).toMatch(/Process 77 on host \S+ took over .* while this svc stood still\./u);
  expect(ran.stderr).toMatch(what);
  // What to do is said once.
  expect(ran.stderr.match(/\brun (?:the|this) (?:same )?command again\b/giu) ?? [], ran.stderr).toHaveLength(1);
});

test('a bulk run that lost its journal leaves the files of the run that took it over', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const [input, results, report] = ['tickets.csv', 'results.csv', 'report.json'].map((name) =>
    join(world.folder, name),
  ) as [string, string, string];
  writeFileSync(input, files['tickets.csv'] ?? '');
  let asked = 0;
  const exchange: Exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method === 'POST' && ++asked === 5) {
      stealLocks(world.folder);
      for (const file of [results, report]) writeFileSync(file, 'of the other run');
    }
    return answer;
  };
  const argv = ['tickets', 'create', '--from', input, '--yes', '--results', results, '--report', report];
  expect((await svc({ ...world, exchange }, argv)).exitCode).toBe(1);
  for (const file of [results, report]) expect(readFileSync(file, 'utf8')).toBe('of the other run');
});

test('a row whose first answer was lost before the lock was is unknown, exit 9, and not sent again', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const input = join(world.folder, 'updates.csv');
  writeFileSync(input, 'id,priority\n1,3\n');
  let writes = 0;
  const exchange: Exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method !== 'PATCH') return answer;
    writes++;
    stealLocks(world.folder);
    return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
  };
  const ran = await svc({ ...world, exchange }, ['tickets', 'update', '--from', input, '--yes']);
  expect({ exitCode: ran.exitCode, writes }, ran.stderr).toEqual({ exitCode: 9, writes: 1 });
  expect(ran.stderr).toMatch(/took over the journal of this file/u);
  expect(readdirSync(world.folder)).toContain('state');
});

test('a sync that loses its journal while the answer to a chunk is missing ends with 9, and sends nothing more', async () => {
  const world = sandboxWorld({ rateLimit: 'off' });
  const input = join(world.folder, 'many.csv');
  writeFileSync(input, files['many.csv'] ?? '');
  let writes = 0;
  const exchange: Exchange = async (request) => {
    const answer = await world.exchange(request);
    if (request.method !== 'POST' || ++writes < 3) return answer;
    stealLocks(world.folder);
    return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
  };
  const argv = ['contacts', 'sync', input, '--json', '--concurrency', '1'];
  const ran = await svc({ ...world, exchange }, argv);
  expect({ exitCode: ran.exitCode, writes }, ran.stderr).toEqual({ exitCode: 9, writes: 3 });
  expect(ran.stderr).toMatch(/Process 77 on host \S+ took over the journal of this sync/u);
  expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 3000, created: 400, unsent: 2600 });
});
