// An operation that reaches a customer and was only added to the table: mode draft holds it on every face.
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { beforeEach, expect, test } from 'vitest';
import { hearersOf } from '../../src/api/hearers.ts';
import { operations } from '../../src/api/index.ts';
import { defineOperation, type Operation, type Table } from '../../src/api/operation.ts';
import { runFile } from '../../src/bulk/command/file.ts';
import { fromOperation } from '../../src/command/from-operation.ts';
import { rowOf } from '../../src/command/row.ts';
import { sendRaw } from '../../src/commands/api/index.ts';
import type { Context } from '../../src/context.ts';
import { skillOf } from '../../src/derive/skill.ts';
import { Failure } from '../../src/errors.ts';
import { call, connect } from '../../src/http/call/call.ts';
import { operationAt } from '../../src/http/exchange/raw.ts';
import { wireOf } from '../../src/http/exchange/request.ts';
import { grantedTools } from '../../src/mcp/tools.ts';
import { topicTexts } from '../../src/program/topic-texts.ts';
import { sendsFor } from '../../src/sends/lazy.ts';
import { openDrafts } from '../../src/sends/store.ts';
import { settings as plain, screen } from '../cli/fake-context.ts';
import { origin, sandboxWorld } from '../sandbox-world.ts';

// Neither its id nor its path says whom it reaches: `grant` and `reaches` do.
const added = (more: object): Operation =>
  defineOperation({
    id: 'addedOperation',
    method: 'PUT',
    path: '/calls/{id}/text',
    summary: 'Text the caller',
    command: ['calls', 'text'],
    resource: 'calls',
    ids: { id: 'calls' },
    scope: 'calls:read',
    body: v.object({ body: v.string() }),
    status: 200,
    response: v.looseObject({ status: v.literal('ok') }),
    answer: { shape: 'record' },
    safety: 'once',
    effect: { of: 'The text', done: 'sent', lookHint: 'Look with: svc calls list' },
    grant: 'send',
    ...more,
  } as never) as Operation;

const both: readonly Operation[] = [added({}), added({ reaches: 'customer' })];

const settings = { ...plain, baseUrl: origin, sends: 'draft' as const, yes: true };

let world = sandboxWorld();
let ctx: Context;

beforeEach(() => {
  world = sandboxWorld();
  const { exchange, clock, folder } = world;
  const base = {
    ...screen({ env: { SVC_API_KEY: 'key_acme' } }).ctx,
    exchange,
    clock,
    files: { config: folder, state: folder },
  };
  ctx = Object.create(base, { sends: { get: () => sends } });
  const sends = sendsFor(ctx, settings);
});

const input = { params: { id: 7 }, body: { body: 'Hello' } };

const drafts = async () => {
  const store = await openDrafts(ctx, undefined);
  return (await store.list()).map(({ operation, steps }) => [operation, steps[0]?.body]);
};

const writes = () => world.sent.filter((line) => !line.startsWith('GET'));

const faces: Readonly<Record<string, (operation: Operation) => Promise<unknown>>> = {
  call: async (operation) => call(await connect(ctx, settings), operation, input),
  'a command': async (operation) =>
    fromOperation('text', operation, { examples: [] }).run(ctx, {
      args: { id: 7 },
      flags: { body: 'Hello' },
      settings,
    }),
  'rows of a file': async (operation) => {
    const row = rowOf(operation);
    if (!row) throw new Error('no row');
    async function* stdin() {
      yield Buffer.from('id,body\n7,Hello\n');
    }
    const from = Object.create(ctx, { stdin: { value: stdin() } });
    const flags = {
      from: '-',
      map: [],
      map_value: [],
      strict: false,
      dry_run: false,
      again: false,
      restart: false,
      retry_unknown: false,
    };
    return runFile(from, {
      words: 'calls text',
      row,
      args: {},
      flags,
      settings,
      idsInCopy: async () => undefined as never,
    });
  },
  'svc api': async (operation) => {
    const table: Table = { ...operations, [operation.id]: operation };
    const known = operationAt('PUT', '/calls/7/text', table);
    expect(known?.operation.id).toBe('addedOperation');
    return sendRaw(await connect(ctx, settings), wireOf(operation, input), known);
  },
  'an assistant': async (operation) => {
    const table: Table = { ...operations, [operation.id]: operation };
    const grant = { write: true, send: true, draftSends: false, webhooks: false, only: undefined, toolsets: undefined };
    const tool = grantedTools(grant, table).tools.find(({ name }) => name === 'addedOperation');
    expect(tool?.reach).toBe('send');
    return tool?.run({
      service: await connect(ctx, settings),
      input: { id: 7, body: 'Hello' },
      boundary: 'x',
      tell: () => {},
    });
  },
};

const cases = Object.entries(faces).flatMap(([name, act]) =>
  both.map((operation, at) => ({ name, act, operation, at })),
);

test.each(cases)('$name, entry $at', async ({ act, operation }) => {
  await act(operation).catch((error: unknown) => {
    if (!(error instanceof Failure && error.drafted)) throw error;
  });
  expect(writes()).toEqual([]);
  expect(await drafts()).toEqual([['addedOperation', { body: 'Hello' }]]);
});

/** How docs/drafts.md, `svc help sends` and the skill call each send. */
const named: Readonly<Record<string, readonly [page: string, topic: string, skill: string]>> = {
  createChangelogEntry: ['publishing', 'publishing', 'published changelog entry'],
  replyToConversation: ['`conversations reply`', 'both replies', 'Replies'],
  replyToTicket: ['`tickets reply`', 'both replies', 'Replies'],
  resolveConversation: ['`conversations reply` and `resolve`', 'conversations resolve', '`resolve` of a chat'],
  sendEvent: ['`events send`', 'events send', '`events send`'],
  updateChangelogEntry: ['changed once it is', 'publishing', 'published changelog entry'],
};

const held = Object.values<Operation>(operations).filter((operation) => hearersOf(operation) !== undefined);

test('every operation of the table that an assistant needs --allow-send for, or that the public reads, is a send', () => {
  expect(held.map(({ id }) => id).sort()).toEqual(Object.keys(named));
});

test('the pages and texts that tell what a send is name each of them', () => {
  const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const [drafts] = read('drafts.md').match(/^A \*send\* is[^.]*\./mu) ?? [];
  const [allowed] = read('mcp.md').match(/^\| `--allow-send`.*$/mu) ?? [];
  const [topic] = topicTexts.sends(10_000).match(/^What reaches .*$/mu) ?? [];
  const [skill] = skillOf([]).match(/^- Replies[\s\S]*?public\./mu) ?? [];
  for (const { id, grant } of held) {
    const [ofPage, ofTopic, ofSkill] = named[id] ?? [];
    expect([id, drafts, topic, skill]).toEqual([
      id,
      expect.stringContaining(String(ofPage)),
      expect.stringContaining(String(ofTopic)),
      expect.stringContaining(String(ofSkill)),
    ]);
    if (grant === 'send') expect(allowed).toContain(`\`${id}\``);
  }
});
