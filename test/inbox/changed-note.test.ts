// A note leaves the inbox without another look at its thread: only while its draft is a note on the ticket that was read.
import { expect, test } from 'vitest';
import type { Context } from '../../src/context.ts';
import { connect } from '../../src/http/call/call.ts';
import { send } from '../../src/inbox/writes.ts';
import { digestOfDraft, type NewDraft } from '../../src/sends/draft.ts';
import { sendsFor } from '../../src/sends/lazy.ts';
import { openDrafts } from '../../src/sends/store.ts';
import { settings as plain, screen } from '../cli/fake-context.ts';
import { few, origin, sandboxWorld } from '../sandbox-world.ts';
import { rowOf } from './models.ts';

const settings = { ...plain, baseUrl: origin };

const step = { operation: 'addTicketNote', method: 'POST', path: '/tickets/8/notes', body: { body: 'Look' } };
const note: NewDraft = {
  ...{ state: 'waiting', batch: null, key: null, operation: 'addTicketNote', record: { kind: 'tickets', id: 8 } },
  ...{ to: null, recipient: null, channel: null, status: 'open', number: 'T-1008', answers: null, content: null },
  steps: [{ ...step, state: 'waiting', sent_id: null }],
  ...{ base_url: origin, account: 1, created_at: '2026-03-01T12:00:00.000Z', by: 'ada@here' },
  ...{ edited_by: null, edits: [], decided_at: null, decided_by: null, reason: null, error: null, claim: null },
};

const withPath = (path: string, operation = step.operation): Partial<NewDraft> => ({
  operation,
  steps: [{ ...step, operation, path, state: 'waiting', sent_id: null }],
});

const withBody = (body: unknown): Partial<NewDraft> => ({
  steps: [{ ...step, body, state: 'waiting', sent_id: null }],
});

/** Sends a note that was agreed to as the inbox does, once it is another one, and returns what was written. */
async function writesOf(change: Partial<NewDraft>): Promise<readonly string[]> {
  const world = sandboxWorld({ seed: few });
  const { exchange, clock, folder } = world;
  const base = {
    ...screen({ env: { SVC_API_KEY: 'key_acme' } }).ctx,
    ...{ exchange, clock, files: { config: folder, state: folder }, random: (bytes: number) => new Uint8Array(bytes) },
  };
  const ctx: Context = { ...base, sends: sendsFor(base, settings) };
  const store = await openDrafts(ctx, undefined);
  const agreed = await store.add(note);
  const [draft, digest] = [agreed.id, digestOfDraft(agreed)];
  await store.change(draft, (one) => ({ ...one, ...change }));
  const row = { ...rowOf(8), kind: 'ticket' as const, number: 'T-1008' };
  const writing = {
    service: () => connect(ctx, settings),
    drafts: async () => store,
    account: 1,
    holdMs: async () => 0,
  };
  const ended = await send(writing, { do: 'send', job: 1, row, means: 'note', draft, digest, holdMs: 0 });
  const written = world.sent.filter((line) => !line.startsWith('GET'));
  expect(ended).toMatchObject({ is: 'ended-job', state: written.length > 0 ? 'done' : 'refused' });
  return written;
}

test('as it was written it is added', async () => {
  expect(await writesOf({})).toEqual(['POST /tickets/8/notes']);
});

test.each([
  ['a reply', withPath('/tickets/8/replies', 'replyToTicket')],
  ['a reply that is called a note', withPath('/tickets/8/replies')],
  ['a note on another ticket', withPath('/tickets/9/notes')],
  ['a note on another ticket, all through', { ...withPath('/tickets/9/notes'), record: { kind: 'tickets', id: 9 } }],
  ['a note with another number', { number: 'T-1009' }],
  ['a note with another text', withBody({ body: 'Else' })],
  ['a note with a status', withBody({ body: 'Look', status: 'closed' })],
  ['a note of another account', { account: 2 }],
  ['a note for another service', { base_url: 'https://other.test' }],
])('%s in its place is not sent', async (_, change) => {
  expect(await writesOf(change)).toEqual([]);
});
