// What svc tells a person beside an answer, an assistant hears too: whatever became of the call.
import { afterEach, describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { withNotes } from '../../src/mcp/notes.ts';
import { anyText, fc } from '../chance.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Connected, connected } from './connected.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every tool
type Any = any;

let open: Connected[] = [];

afterEach(async () => {
  for (const each of open) await each.end();
  open = [];
});

type Bend = (ticket: Any) => void;

/** A service whose tickets show what `bend` makes of them. */
async function assistant(flags: readonly string[], bend: Bend = () => {}) {
  const world: SandboxWorld = sandboxWorld({ seed: 'demo' });
  const through: Exchange = world.exchange;
  const exchange: Exchange = async (request) => {
    const answer = await through(request);
    if ('lost' in answer || !/\/tickets\/1$/u.test(new URL(request.url).pathname)) return answer;
    const json = JSON.parse(String(answer.body));
    bend(json.ticket);
    return { ...answer, body: JSON.stringify(json) };
  };
  const connection = await connected({ ...world, exchange }, flags);
  open.push(connection);
  // The client checks each answer against the schema of its tool.
  await connection.client.listTools();
  const call = async (name: string, input: Record<string, unknown>): Promise<Any> =>
    connection.client.callTool({ name, arguments: input });
  const loseOne = () =>
    world.control('POST', 'faults', { method: 'PATCH', path: '/tickets/1', action: 'drop-after', times: 1 });
  return { call, loseOne };
}

const lostCopy = expect.stringMatching(/^Note: the answer to an earlier copy of this request was lost/u);
const toldIn = ({ content }: Any) => {
  const [heading, mark, ...told] = content.at(-1).text.split('\n');
  expect(told.pop()).toBe(mark.replace('<', '</'));
  expect(mark).toMatch(/^<untrusted-data-[0-9a-f]{12}>$/u);
  return [heading, ...told];
};

describe('a note of svc is told', () => {
  test('of a call that fails', async () => {
    const { call, loseOne } = await assistant(['--allow-write'], (ticket) => {
      ticket.priority = 0;
    });
    await loseOne();
    const answer = await call('updateTicket', { id: 1, priority: 2 });
    expect(answer.isError).toBe(true);
    expect(answer.content[0].text).toContain('call again with the same input');
    expect(toldIn(answer)).toEqual(['svc says:', lostCopy]);
    expect(answer.structuredContent).toMatchObject({ error: { kind: 'unknown' }, svc_says: [lostCopy] });
  });

  test('of a call that makes a draft', async () => {
    const { call } = await assistant(['--draft-sends'], (ticket) => {
      delete ticket.ticket_number;
    });
    const answer = await call('replyToTicket', { id: 1, body: 'Hello' });
    const warning = expect.stringMatching(/^Warning: missing in the answer.*ticket_number/u);
    expect(answer.content[0].text).toMatch(/^Draft .* waits for a person/u);
    expect(toldIn(answer)).toEqual(['svc says:', warning]);
    expect(answer.structuredContent).toMatchObject({ drafted: { state: 'waiting' }, svc_says: [warning] });
  });

  test('with --debug too, and no exchange is', async () => {
    const { call, loseOne } = await assistant(['--allow-write', '--debug']);
    await loseOne();
    const answer = await call('updateTicket', { id: 1, priority: 2 });
    expect(answer.isError).toBeUndefined();
    expect(toldIn(answer)).toEqual(['svc says:', lostCopy]);
    expect(answer.structuredContent).toMatchObject({ ticket: { id: 1, priority: 2 }, svc_says: [lostCopy] });
    const next = await call('updateTicket', { id: 1, priority: 3 });
    expect(next.content).toHaveLength(1);
    expect(next.structuredContent).not.toHaveProperty('svc_says');
  });
});

const saying = (text: string) => ({ content: [{ type: 'text' as const, text }], structuredContent: { text } });

test('of many notes the last five are told, and how many were before them', () => {
  const notes = ['1', '2', '3', '4', '5', '6', '7'];
  expect(withNotes(saying('Done.'), notes, 'b').structuredContent.svc_says).toEqual([
    '2 earlier notes left out.',
    ...['3', '4', '5', '6', '7'],
  ]);
  expect(withNotes(saying('Done.'), notes.slice(2), 'b').structuredContent.svc_says).toEqual(notes.slice(2));
  expect(withNotes(saying('Done.'), [], 'b')).toEqual(saying('Done.'));
});

test('whatever the notes and the answer are, each note is told or counted, and the answer stays within its bound', () => {
  const text = fc
    .oneof(fc.nat({ max: 39_000 }), fc.integer({ min: 37_000, max: 39_500 }))
    .map((long) => 'x'.repeat(long));
  const note = fc.oneof(
    anyText({ maxLength: 20 }),
    fc.nat({ max: 2_000 }).map((long) => 'n'.repeat(long)),
  );
  fc.assert(
    fc.property(text, fc.array(note, { minLength: 1, maxLength: 12 }), (said, notes) => {
      const { content, structuredContent }: Any = withNotes(saying(said), notes, 'b');
      const [first = '', ...others]: string[] = structuredContent.svc_says;
      const leftOut = Number(/^(\d+) earlier notes? left out\.$/u.exec(first)?.[1] ?? 0);
      expect(others.length + (leftOut > 0 ? 0 : 1) + leftOut).toBe(notes.length);
      expect(content.at(-1).text).toBe(
        ['svc says:', '<untrusted-data-b>', first, ...others, '</untrusted-data-b>'].join('\n'),
      );
      const letters = content.reduce((sum: number, one: { text: string }) => sum + one.text.length, 0);
      expect(Math.max(letters, JSON.stringify(structuredContent).length)).toBeLessThanOrEqual(40_000);
    }),
  );
});
