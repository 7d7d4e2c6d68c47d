import { operationNamed, takes } from '../api/takes.ts';
import { isFresh, seenAt } from '../as-read.ts';
import { type SendMode, stricter } from '../config/settings.ts';
import type { Context, SendRequest, Verdict } from '../context.ts';
import { Failure, isInterruption } from '../errors.ts';
import { once } from '../promise/once.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import type { Judging } from './judging.ts';
import type { PolicyQuestion } from './policy.ts';
import { readPolicies } from './policy-file.ts';
import type { Policy } from './policy-schema.ts';
import { modeNow } from './set-now.ts';

/**
 * Whether a request that may reach a customer or the public may leave: `go`, or the failure that says that it became a
 * draft or what forbids it. One after the other, so that two rows never ask at once.
 */
export function judge(judging: Judging, request: SendRequest): Promise<Verdict> {
  const { shared } = judging;
  const judged = shared.turn.then(() => shared.stopped ?? verdictOn(judging, request));
  shared.turn = judged.catch((error: unknown) => error).then((ended) => noteStop(shared, ended));
  return judged;
}

function noteStop(shared: Judging['shared'], ended: unknown): void {
  if (!(ended instanceof Failure) || !isInterruption(ended)) return;
  shared.stopped ??= new Failure(ended.kind, 'Interrupted. This was not sent.', { isHeld: true });
}

/** `isAsked`: a person has said yes to it. */
async function verdictOn(judging: Judging, request: SendRequest, isAsked = false): Promise<Verdict> {
  const { ctx, settings, wish } = judging;
  // Its mode holds also where nothing else of it does.
  const policies = await readPolicies(ctx).catch((error: unknown) => {
    if (error instanceof Failure && (wish.draft || settings.sends === 'draft')) return [];
    throw error;
  });
  const mode = await modeWith(judging, policies);
  const isDrafted = wish.draft === true || mode === 'draft';
  passed.set(request, mode);
  const holdMs = heldFor(judging);
  if (mode === 'allow' && !isDrafted && policies.length === 0 && holdMs === 0) return 'go';
  if (request.operation === '') return refuseDisguised(mode, isDrafted || policies.length > 0);
  // Before the record is read: its answer may be long on its way, and so may a person's.
  let lookedAt = ctx.clock.ticks();
  const read = once(async () => (await request.read()).was);
  if (request.hearers === 'public' && !(await isPublished(request, read))) {
    passed.set(request, 'unheard');
    return 'go';
  }
  if (isDrafted) return (await import('./make.ts')).draftedUnlessDone(judging, request, await read());
  const refusal = await refusedBy(policies, judging, { request, read });
  if (refusal) return refusal;
  const asks = mode === 'ask' && !isAsked;
  if (asks) {
    const { askedFor, readIn } = await import('./ask.ts');
    const record = await read();
    const declined = await askedFor(judging, request, record);
    if (declined) return declined;
    if (!judging.shared.isAgreedToAll) agreed.set(request, readIn(request, record));
  }
  if (holdMs > 0) {
    const taken = await (await import('./hold.ts')).held(judging, request, { holdMs, read });
    if (taken) return taken;
  }
  if (asks || holdMs > 0) {
    // What was set meanwhile holds too, quiet hours may have begun, and the record be another one. It is asked and held once.
    lookedAt = ctx.clock.ticks();
    const now = once(() => readPromptly(ctx, request));
    const isSame = await isAsAgreed(judging, request, now);
    if (!isSame || (await isOther(judging, { mode, policies })))
      return verdictOn(judging, request, isSame && (asks || isAsked));
    const late = await refusedBy(policies, judging, { request, read: now });
    if (late) return late;
  }
  if (policies.length === 0) return 'go';
  judging.shared.judgedAt.set(request, lookedAt);
  return withinRate(policies, judging, request);
}

/** The refusal of the first rule that forbids it, but for that of so many an hour. */
const refusedBy = async (policies: readonly Policy[], judging: Judging, asked: PolicyQuestion) =>
  policies.length > 0 ? (await import('./policy.ts')).refusalBy(policies, judging, asked) : undefined;

async function withinRate(policies: readonly Policy[], judging: Judging, request: SendRequest): Promise<Verdict> {
  return (await (await import('./policy.ts')).refusalByRate(policies, judging, request)) ?? 'go';
}

/** The mode in which a request might go. `unheard`: in any, for nobody would have heard of it then. */
const passed = new WeakMap<SendRequest, SendMode | 'unheard'>();

/** What a person has read and agreed to; of the rest of a file that was agreed to at once nothing was read. */
const agreed = new WeakMap<SendRequest, string>();

/** Whether a person would read the same now: an entry may get another text, and a ticket another customer, meanwhile. */
async function isAsAgreed(
  { ctx, shared }: Judging,
  request: SendRequest,
  read: PolicyQuestion['read'],
): Promise<boolean> {
  // Nobody would be asked about it once more.
  const before = shared.isAgreedToAll ? undefined : agreed.get(request);
  if (before === undefined || before === (await import('./ask.ts')).readIn(request, await read())) return true;
  ctx.notice('What would be sent has changed since you read it.');
  return false;
}

/** One that was longer on its way may be of before a change: it is read once more. */
async function readPromptly(ctx: Context, request: SendRequest): Promise<Fields | undefined> {
  const first = await request.read();
  const { was } = isFresh(ctx, seenAt(first)) ? first : await request.read();
  return was;
}

const modeWith = async ({ ctx, settings, wish }: Judging, policies: readonly Policy[]): Promise<SendMode> =>
  wish.approved
    ? 'allow'
    : stricter(settings.sends, await modeNow(ctx, settings), ...policies.map(({ sends }) => sends.mode));

/**
 * After a wait that the service asked for, and before what may be done is sent again: quiet hours may have begun, and the
 * record may be another one. What nobody would have heard of may be public by now, and a stricter mode may be set: then it
 * is judged as if it had just come.
 */
export async function judgeAgain(judging: Judging, request: SendRequest): Promise<Verdict> {
  const before = passed.get(request);
  if (before === 'unheard') return judge(judging, request);
  const policies = await readPolicies(judging.ctx);
  if (before && stricter(before, await modeWith(judging, policies)) !== before) return judge(judging, request);
  // Whoever asks does so once more where this takes long.
  const read = once(async () => (await request.read()).was);
  if (!(await isAsAgreed(judging, request, read))) return judge(judging, request);
  if (policies.length === 0) return 'go';
  if (request.hearers === 'public' && !(await isPublished(request, read))) return 'go';
  const refusal = await refusedBy(policies, judging, { request, read });
  // Of what is only shown nobody has judged anything before, and nothing is counted.
  return refusal ?? (before === undefined ? 'go' : withinRate(policies, judging, request));
}

type Rules = { readonly mode: SendMode; readonly policies: readonly Policy[] };

async function isOther({ ctx, settings, wish }: Judging, { mode, policies }: Rules): Promise<boolean> {
  if (JSON.stringify(await readPolicies(ctx)) !== JSON.stringify(policies)) return true;
  return wish.approved !== true && stricter(mode, await modeNow(ctx, settings)) !== mode;
}

/** A person thinks again; an assistant has nobody who could. The rows of a file are held once. */
function heldFor({ settings, wish, shared }: Judging): number {
  if (wish.face === 'mcp' || shared.hasHeld) return 0;
  return wish.holdMs ?? settings.holdMs ?? 0;
}

/** A change of what is published already is read by the public too; what cannot be read may be. */
async function isPublished(
  { operation, body, record }: SendRequest,
  read: () => Promise<Fields | undefined>,
): Promise<boolean> {
  const { status, ...others } = fieldsIn(body);
  // A server that trims, or takes capitals, publishes by "Published " too: only what surely is a draft is one.
  if (status !== undefined && status !== null && status !== 'draft') return true;
  // So may `Status`, or a whole entry in a field: of what svc does not know nobody can tell.
  const known = operationNamed(operation);
  if (!known || Object.keys(others).some((name) => !takes(known, name))) return true;
  if (record.id === undefined) return false;
  const present = await read();
  return present?.status !== 'draft';
}

function refuseDisguised(mode: SendMode, isHeld: boolean): Verdict {
  if (mode === 'allow' && !isHeld) return 'go';
  return new Failure(
    'usage',
    'A server may take this request for one that reaches a customer, and it is not written as one.',
    {
      isHeld: true,
      hint: 'Nothing was sent. Write the path as svc api ls has it, without a query, and the body as one JSON object.',
    },
  );
}
