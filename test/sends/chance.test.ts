// @module-tag long
// Every face in mode draft, with faults and kills by chance: nothing reaches anybody that no person approved, and nothing twice.
import { expect, test } from 'vitest';
import { runOrKill } from '../bulk/killing.ts';
import { connected } from '../mcp/connected.ts';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';
import type { Shown } from './drafting.ts';

/** A small generator of chances, told by its seed. */
function chances(seed: number) {
  let state = seed >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return { below: (count: number) => Math.floor(next() * count), isLikely: (share: number) => next() < share };
}

type Chances = ReturnType<typeof chances>;

/** A send with words of its own, by which it is known wherever it comes out. */
type Line = { readonly argv: readonly string[]; readonly stdin?: string; readonly tool?: readonly [string, object] };

const faces: readonly ((word: string, id: number) => Line)[] = [
  (word, id) => ({ argv: ['tickets', 'reply', String(id), '--body', word] }),
  (word, id) => ({ argv: ['tickets', 'reply', String(id), '--body', word, '--note', `note on ${id}`, '--draft'] }),
  (word, id) => ({ argv: ['conversations', 'reply', String(id), '--body', word] }),
  (word) => ({ argv: ['events', 'send', word, '--contact-name', 'Ada', '--email', 'ada@lovelace.test'] }),
  (word) => ({ argv: ['changelog', 'create', '--title', word, '--content', 'Text', '--status', 'published'] }),
  (word, id) => ({ argv: ['api', `/tickets/${id}/replies`, '-f', `body=${word}`] }),
  (word, id) => ({ argv: ['tickets', 'reply', '--from', '-', '--yes'], stdin: `id,body\n${id},${word}\n` }),
  (word, id) => ({ argv: [], tool: ['replyToTicket', { id, body: word }] }),
  (word) => ({
    argv: [],
    tool: ['sendEvent', { trigger: word, contact: { name: 'Ada', email: 'ada@lovelace.test' } }],
  }),
];

const faults = [
  { action: 'drop-before' },
  { action: 'drop-after' },
  { action: 'truncate' },
  { action: 'status', status: 500 },
  { action: 'status', status: 503 },
  { action: 'rate-limit', retry_after: 1 },
  { action: 'status', status: 403 },
] as const;

/** Whatever left, by the words in it; and what took effect. */
function watched(sandbox: SandboxWorld) {
  const left: string[] = [];
  const done: string[] = [];
  const exchange: World['exchange'] = async (request) => {
    const answer = sandbox.exchange(request);
    if (request.method === 'GET') return answer;
    left.push(String(request.body ?? ''));
    const answered = await answer;
    if (!('lost' in answered) && answered.status < 300) done.push(String(request.body ?? ''));
    return answered;
  };
  const countIn = (bodies: readonly string[]) => (word: string) =>
    bodies.filter((body) => body.includes(`"${word}"`)).length;
  return { exchange, countOf: countIn(left), doneOf: countIn(done), left };
}

async function drafted(world: World, { argv, stdin, tool }: Line, by: Chances): Promise<World> {
  const env = { SVC_SENDS: 'draft' };
  if (tool) {
    const { client, end } = await connected({ ...world, env: { ...world.env, ...env } }, ['--allow-send']);
    await client.callTool({ name: tool[0], arguments: tool[1] as Record<string, unknown> });
    await end();
    return world;
  }
  const kill = by.isLikely(0.2) ? { at: by.below(3), heard: by.isLikely(0.5) } : undefined;
  const { next } = await runOrKill(world, argv, kill, { env, stdin: stdin ?? '' });
  return next;
}

/** A person approves; a machine may die, two may do it at once. */
async function decided(world: World, sandbox: SandboxWorld, draft: Shown, by: Chances): Promise<World> {
  if (by.isLikely(0.3)) {
    const fault = faults[by.below(faults.length)];
    await sandbox.control('POST', 'faults', { method: 'POST', ...fault });
  }
  const shown = JSON.parse((await svc(world, ['drafts', 'show', String(draft.id), '--json'])).stdout) as Shown;
  const argv = ['drafts', 'approve', String(draft.id), '--digest', shown.digest];
  if (by.isLikely(0.2)) {
    await Promise.all([svc(world, argv), svc(world, argv)]);
    return world;
  }
  const kill = by.isLikely(0.6) ? { at: by.below(4), heard: by.isLikely(0.7) } : undefined;
  const { next } = await runOrKill(world, argv, kill);
  sandbox.clock.advance(91_000);
  return next;
}

const draftsOf = async (world: World): Promise<readonly Shown[]> =>
  JSON.parse((await svc(world, ['drafts', 'list', '--all', '--json'])).stdout);

/** What the account holds with these words, or undefined where nothing shows it. */
async function effectsOf(
  sandbox: SandboxWorld,
  { operation, body, record }: Shown & { record: { id: number | null } },
) {
  if (operation === 'replyToTicket' || operation === 'replyToConversation') {
    const path = operation === 'replyToTicket' ? 'tickets' : 'conversations';
    const { stdout } = await svc(sandbox, [path, 'get', String(record.id), '--json']);
    const { messages } = JSON.parse(stdout) as { messages: readonly { body: string }[] };
    return messages.filter((message) => message.body === body).length;
  }
  return undefined;
}

async function round(seed: number): Promise<void> {
  const by = chances(seed);
  const sandbox = sandboxWorld({ seed: few, rateLimit: 'off' });
  const { exchange, countOf, doneOf, left } = watched(sandbox);
  let world: World = { ...sandbox, exchange };
  const words: string[] = [];
  for (let count = 0; count < 6; count++) {
    const word = `word-${seed}-${count}`;
    words.push(word);
    const face = faces[by.below(faces.length)] ?? faces[0];
    if (face) world = await drafted(world, face(word, 1 + by.below(8)), by);
  }
  expect(left, `seed ${seed}`).toEqual([]);
  const made = await draftsOf(world);
  const wordOf = (draft: Shown) => words.find((word) => JSON.stringify(draft.steps).includes(`"${word}"`)) ?? '';
  expect(new Set(made.map(wordOf)).size, `seed ${seed}: drafted once`).toBe(made.length);
  const approved = made.filter(() => by.isLikely(0.6));
  for (const draft of approved) {
    for (let tries = 0; tries < 3; tries++) world = await decided(world, sandbox, draft, by);
  }
  await sandbox.control('DELETE', 'faults');
  sandbox.clock.advance(91_000);
  const after = (await draftsOf(world)) as (Shown & { record: { id: number | null } })[];
  for (const draft of after) {
    const about = `seed ${seed}, draft ${draft.id} ${draft.operation} ${draft.state}: ${draft.error}`;
    const isApproved = approved.some(({ id }) => id === draft.id);
    expect(draft.state === 'sending', about).toBe(false);
    if (!isApproved) expect([draft.state, countOf(wordOf(draft))], about).toEqual(['waiting', 0]);
    expect(doneOf(wordOf(draft)), about).toBeLessThanOrEqual(1);
    const effects = await effectsOf(sandbox, draft);
    if (effects === undefined) continue;
    if (draft.state === 'sent') expect(effects, about).toBe(1);
    else expect(effects, about).toBeLessThanOrEqual(draft.state === 'unknown' ? 1 : 0);
  }
}

test.each([1, 2, 3, 4])('rounds by chance, part %i', async (part) => {
  const rounds = Number(process.env.SVC_ROUNDS ?? 4);
  for (let at = 0; at < rounds; at++) await round(part * 1000 + at);
});
