import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import { defineOperation, type Operation } from '../../src/api/operation.ts';
import type { AnyCommand, Group } from '../../src/command/command.ts';
import { fromOperation } from '../../src/command/from-operation.ts';
import { idNameOf } from '../../src/command/row.ts';
import { takingFiles } from '../../src/commands/from-file.ts';
import { entries, loadEntry } from '../../src/commands/index.ts';
import type { HttpRequest } from '../../src/context.ts';
import { flatCells } from '../../src/tabular/rows.ts';
import { bodies } from '../contract/document.ts';
import { createWorld, svc } from '../svc.ts';
import { inTurn } from '../thorough.ts';

type Taking = { readonly words: readonly string[]; readonly command: AnyCommand };

const walk = (node: Group | AnyCommand, words: readonly string[]): Taking[] =>
  'commands' in node
    ? node.commands.flatMap((child) => walk(child, [...words, child.name]))
    : node.row
      ? [{ words, command: node }]
      : [];

const taking: readonly Taking[] = (
  await Promise.all(entries.map(async (entry) => walk(await loadEntry(entry), [entry.name])))
).flat();

/** Bodies with more in them than the document's examples. */
const richer: Readonly<Record<string, object>> = {
  createTicket: {
    subject: 'Printer on fire',
    description: 'It burns;\nstill.',
    priority: 3,
    contact_id: 7,
    due_at: '2030-01-01T00:00:00Z',
  },
  updateContact: { name: 'Ada', company: 'Example', metadata: { plan: 'pro' } },
  createChangelogEntry: { title: 'Dark mode', content: '# Here', labels: ['new', 'ui'], version: '1.2.0' },
  sendEvent: {
    trigger: 'order_create',
    contact: { name: 'Ada', email: 'ada@example.com' },
    metadata: { plan: 'pro' },
    attribution: { utm_source: 'news' },
    kpi: { value_minor: 1999, currency: 'EUR' },
  },
};

const sampleFor = ({ words, command }: Taking): { readonly cells: object; readonly body: unknown } => {
  const { fixed = {}, reads, operation } = command.row ?? {};
  if (!operation?.body) return { cells: {}, body: undefined };
  if (reads === 'named') return { cells: {}, body: fixed };
  const body = richer[operation.id] ?? bodies[operation.id];
  if (body === undefined) throw new Error(`The document has no body for svc ${words.join(' ')}`);
  return { cells: body as object, body };
};

const csvOf = (rows: readonly Map<string, unknown>[]): string => {
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const cell = (value: unknown) => {
    const text = Array.isArray(value) ? value.join(';') : String(value ?? '');
    return `"${text.replaceAll('"', '""')}"`;
  };
  return [columns.join(','), ...rows.map((row) => columns.map((name) => cell(row.get(name))).join(','))].join('\n');
};

/** A service that has everything and says yes to everything. */
function answering(requests: HttpRequest[]) {
  const recordOf = (id: number) => ({
    id,
    contact_id: id,
    contact_list_id: id,
    messages: [],
    handling_mode: 'human',
    signing_secret: 's',
    enrolled: 1,
  });
  const lists = {
    account_id: 1,
    name: 'Acme',
    billing_active: true,
    setup_url: null,
    contacts: [],
    tickets: [],
    entries: [],
    data: [{ contacts_list_id: 5, name: 'Leads' }],
    webhooks: [],
  };
  let nextId = 7;
  return createWorld(
    async (request) => {
      requests.push(request);
      const { pathname } = new URL(request.url);
      const isList = request.method === 'GET' && !/\d$/u.test(pathname);
      // Ids are never used twice (service.md#records-1).
      const record = recordOf(Number(/\/(\d+)/u.exec(pathname)?.[1] ?? nextId++));
      const keyed = Object.fromEntries(
        ['ticket', 'contact', 'entry', 'conversation', 'note', 'message', 'contacts'].map((key) => [key, record]),
      );
      const body = isList
        ? { ...lists, meta: { current_page: 1, last_page: 1, total: 0 } }
        : { ...record, ...keyed, ticket: { ...record, contact_id: 7 }, status: 'ok', success: 'ok' };
      return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    },
    { env: { SVC_BASE_URL: 'https://service.test', SVC_ACCESS_TOKEN: 'tok' } },
  );
}

describe.each(taking.map((one, turn) => ({ ...one, turn })))('svc $words', ({ words, command, turn }) => {
  const { row } = command;
  if (!row) throw new Error('It takes no rows.');
  const { cells, body } = sampleFor({ words, command });
  const rows = [5, 6].map((id) => {
    // What is made twice alike goes out one after the other, so the second is told apart by nothing.
    const flat = flatCells(cells);
    return idNameOf(row) === undefined ? flat : new Map<string, unknown>([['id', id], ...flat]);
  });
  const bare = rows.map((one) => Object.fromEntries(one));

  const written: readonly [string, string][] = [
    ['CSV', csvOf(rows)],
    ['JSON Lines', bare.map((one) => JSON.stringify(one)).join('\n')],
    ['a JSON array', JSON.stringify(bare, undefined, 2)],
  ];
  test.each(inTurn(written, turn, written.length))(
    'sends the rows of %s as the operation takes them',
    async (_, text) => {
      const requests: HttpRequest[] = [];
      const world = answering(requests);
      const file = join(world.folder, 'rows.txt');
      writeFileSync(file, text);
      const results = join(world.folder, 'results.csv');
      const ran = await svc(world, [...words, '--from', file, '--yes', '--json', '--results', results]);
      expect(ran, ran.stderr).toMatchObject({ exitCode: 0 });
      const writes = requests.filter(({ method }) => method !== 'GET');
      const { operation } = row;
      const sent = writes.map((one) => ({
        method: one.method,
        path: new URL(one.url).pathname,
        body: one.body && JSON.parse(String(one.body)),
      }));
      const pathFor = (id: number) => operation.path.replace('{partner}', 'partner').replace(/\{\w+\}/u, String(id));
      expect(sent).toEqual([5, 6].map((id) => ({ method: operation.method, path: pathFor(id), body })));
      expect(JSON.parse(ran.stdout)).toMatchObject({
        command: words.join(' '),
        rows: 2,
        done: 2,
        rejected: 0,
        unsent: 0,
      });
    },
  );

  test('is a dry run without a credential, and sends nothing', async () => {
    const world = createWorld(
      () => {
        throw new Error('A request was sent.');
      },
      { env: {} },
    );
    const file = join(world.folder, 'rows.csv');
    writeFileSync(file, csvOf(rows));
    const ran = await svc(world, [...words, '--from', file, '--dry-run', '--json']);
    expect(ran.exitCode).toBe(0);
    const { method } = row.operation;
    expect(JSON.parse(ran.stdout)).toMatchObject({ rows: 2, unsent: 2, minutes: 1, sample: [{ method }, { method }] });
  });
});

test('every operation that writes one record takes rows; what writes several, or the account itself, does not', () => {
  const taken = new Set(taking.map(({ command }) => command.row?.operation.id));
  const others = Object.values<Operation>(operations).filter(({ safety, id }) => safety !== 'read' && !taken.has(id));
  expect(others.map(({ id }) => id)).toEqual([
    'updateBranding',
    'syncContacts',
    'createAndSyncListContacts',
    'syncListContacts',
    'removeListContacts',
  ]);
});

test('an operation that is added takes rows without being named anywhere', () => {
  const rateCall = defineOperation({
    id: 'rateCall',
    method: 'PATCH',
    path: '/calls/{call}/rating',
    summary: 'Rate a call',
    command: ['calls', 'rate'],
    resource: 'calls',
    ids: { call: 'calls' },
    scope: 'calls:read',
    body: v.object({ stars: v.number(), reasons: v.optional(v.array(v.string())) }),
    status: 200,
    response: v.looseObject({}),
    answer: { shape: 'record' },
    safety: 'repeatable',
    effect: { of: 'The rating', done: 'stored', lookHint: '' },
    grant: 'write',
  });
  const group: Group = { name: 'calls', summary: '', commands: [fromOperation('rate', rateCall, { examples: [] })] };
  const [rate] = takingFiles(group).commands;
  expect(Object.keys((rate as AnyCommand).flags)).toEqual(
    expect.arrayContaining(['stars', 'from', 'id_map', 'tag_separator']),
  );
});

test('flags for the rows of a file need one', async () => {
  const ran = await svc(answering([]), ['tickets', 'close', '7', '--results', 'x.csv']);
  expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--results needs --from FILE.') });
});
