// Values of filters that the service would take for a list of nothing: a tool judges them as the command line does.
import { afterEach, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { type Connected, connected } from './connected.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool
type Any = any;

let open: Connected | undefined;

afterEach(async () => {
  await open?.end();
  open = undefined;
});

async function assistant() {
  const sent: string[] = [];
  const world = sandboxWorld({ seed: 'demo' });
  const through: Exchange = world.exchange;
  const exchange: Exchange = (request) => {
    sent.push(`${request.method} ${new URL(request.url).pathname}`);
    return through(request);
  };
  open = await connected({ ...world, exchange }, ['--allow-write', '--draft-sends']);
  const { client } = open;
  return {
    world,
    sent,
    call: async (name: string, input: Record<string, unknown>): Promise<Any> =>
      client.callTool({ name, arguments: input }),
  };
}

test.each([
  ['listTickets', { status: 'opne' }, 'does not know "opne". Did you mean open?'],
  ['listTickets', { status: '' }, 'is empty. Leave it out to have all'],
  ['listTickets', { q: ' ' }, 'is empty. Leave it out to have all'],
  ['listFeedback', { status: '' }, 'is empty. Leave it out to have all'],
  ['listConversations', { status: '' }, 'is empty. Leave it out to have all'],
  ['listTickets', { status: ',' }, 'is empty. Leave it out to have all'],
  ['listFeedback', { status: ' ,' }, 'is empty. Leave it out to have all'],
  ['listTickets', { status: 'Open' }, 'does not know "Open". Did you mean open?'],
  [
    'listTickets',
    { status: 'open,pending' },
    'takes one value, not "open,pending". Give one of open, pending, resolved, closed, unresolved; unresolved is all that still need work.',
  ],
  ['listConversations', { status: 'unresolvd' }, 'does not know "unresolvd". Did you mean unresolved?'],
  ['updateTicket', { id: 1, status: 'resolvd' }, 'does not know "resolvd". Did you mean resolved?'],
])('%s with %j is refused, and nothing is sent', async (name, input, problem) => {
  const { call, sent } = await assistant();
  const before = sent.length;
  const result = await call(name, input);
  expect(result.isError).toBe(true);
  expect(result.structuredContent.error).toMatchObject({
    kind: 'usage',
    fields: { [Object.keys(input).at(-1) ?? '']: [problem] },
  });
  expect(sent.slice(before)).toEqual([]);
});

test('listDrafts with a state that is none is refused', async () => {
  const { call } = await assistant();
  expect((await call('listDrafts', { state: 'wating' })).structuredContent.error.fields).toEqual({
    state: ['must be one of waiting, sending, sent, rejected, refused, unknown'],
  });
});

test('a status that the document does not name is sent, and the model is warned', async () => {
  const { call, world } = await assistant();
  const { isError, structuredContent } = await call('listTickets', { status: 'spam' });
  expect(isError).toBeUndefined();
  const words = 'spam is not one of open, pending, resolved, closed, unresolved; the service decides.';
  expect(structuredContent).toMatchObject({ tickets: [], svc_says: [`Warning: status ${words}`] });
  const { stderr } = await svc(world, ['tickets', 'list', '--status', 'spam']);
  expect(stderr).toContain(`Warning: --status ${words.replace('unresolved;', 'unresolved, all;')}`);
  expect((await call('listTickets', { status: 'open' })).structuredContent.svc_says).toBeUndefined();
});

test('no post with a status: the model is told which there are', async () => {
  const { call } = await assistant();
  const { structuredContent } = await call('listFeedback', { status: 'planed' });
  expect(structuredContent).toMatchObject({
    posts: [],
    svc_says: ['No post has the status planed. Posts have: in_progress, planned, shipped, under_review.'],
  });
  expect((await call('listFeedback', { status: 'planned' })).structuredContent.svc_says).toBeUndefined();
  // Behind the last page there is nothing to say of it.
  expect((await call('listFeedback', { status: 'planed', page: 2 })).structuredContent.svc_says).toBeUndefined();
});
