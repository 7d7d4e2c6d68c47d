import { operationNamed } from '../api/takes.ts';
import type { SendRequest, SendWish } from '../context.ts';
import { Failure } from '../errors.ts';
import { operationAt } from '../http/exchange/raw.ts';
import { wireOf } from '../http/exchange/request.ts';
import { capital } from '../text/capital.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { type Draft, type NewDraft, requestsOf, type Seen, type Step, shownDraft } from './draft.ts';
import type { Judging } from './judging.ts';
import { seenOf } from './seen.ts';
import { type DraftStore, openDrafts } from './store.ts';
import { whoIs } from './who.ts';
import { nameOf, waitsFor } from './words.ts';

/** Stores what was to be sent, and returns the failure that says so: nothing was sent. */
export async function drafted(judging: Judging, request: SendRequest, record: Fields | undefined): Promise<Failure> {
  const { ctx, wish, shared } = judging;
  refuseUnfit(request);
  const draft = newDraft(request, {
    wish,
    seen: seenOf({ ...request, record }),
    account: (await request.account()) ?? null,
    login: (await request.login()) ?? null,
    at: ctx.clock.now().toISOString(),
  });
  const store = await storeOf(judging);
  const keep = async () => {
    const same = isOnce(draft) ? await equalTo(draft, store, judging) : undefined;
    if (same) return same;
    await wish.onDraft?.();
    return store.add(draft);
  };
  const kept = await keep().finally(() => (isKeptOpen(wish) ? undefined : store.close()));
  shared.drafted++;
  const told = waitsFor(kept, judging);
  return new Failure('failed', `Nothing was sent. ${told}`, {
    drafted: { id: kept.id, told, record: shownDraft(kept) },
    isWhole: true,
  });
}

/** The same, but of what is so already: that is said, and no draft is made. */
export async function draftedUnlessDone(
  judging: Judging,
  request: SendRequest,
  record: Fields | undefined,
): Promise<Failure> {
  if (!isDoneAlready(request, record) || judging.wish.follows?.length) return drafted(judging, request, record);
  const { number } = seenOf({ ...request, record });
  const isToCome = record?.status === 'published' && record.is_live === false;
  const state = isToCome ? 'scheduled' : String(record?.status);
  const told = `${capital(nameOf(request.record, number))} is ${state} already. No draft was made.`;
  return new Failure('failed', told, { drafted: { id: null, told, record: record ?? {} }, isWhole: true });
}

/** Only what is once, however often it is done: the record is as the request would make it. */
function isDoneAlready({ operation, body }: SendRequest, record: Fields | undefined): boolean {
  const { safety, sets } = operationNamed(operation) ?? {};
  if (!record || safety !== 'repeatable') return false;
  const changes = Object.entries({ ...fieldsIn(body), ...sets });
  return changes.length === 1 && changes.every(([name, value]) => name === 'status' && record[name] === value);
}

type Drafting = Pick<SendRequest, 'operation' | 'method' | 'path' | 'body' | 'record' | 'baseUrl'>;

type Making = {
  readonly wish: SendWish;
  readonly seen: Seen;
  readonly account: number | null;
  readonly login: string | null;
  readonly at: string;
};

export function newDraft(request: Drafting, { wish, seen, account, login, at }: Making): NewDraft {
  const { operation, method, path, body, record, baseUrl } = request;
  const steps = [{ operation, method, path, body }, ...(wish.follows ?? [])].map(
    (step): Step => ({ ...step, state: 'waiting', sent_id: null }),
  );
  return {
    ...seen,
    ...{ state: 'waiting', batch: wish.batch ?? null, key: wish.key ?? null, operation, steps, account, login },
    record: { kind: record.kind, id: record.id ?? null },
    ...{ base_url: baseUrl, created_at: at, by: whoIs(wish), edited_by: null, edits: [] },
    ...{ decided_at: null, decided_by: null, reason: null, error: null, claim: null },
  };
}

/** What the service would refuse is told now, to whoever can correct it. */
function refuseUnfit({ method, path, body }: Pick<SendRequest, 'method' | 'path' | 'body'>): void {
  const known = operationAt(method, path);
  if (known) wireOf(known.operation, { params: known.params, ...(known.operation.body && { body }) });
}

/** Twice is once for each of its requests, as publishing and resolving are: one draft of it is enough. */
const isOnce = ({ steps }: NewDraft): boolean =>
  steps.every(({ operation }) => operationNamed(operation)?.safety === 'repeatable');

/** Where the account is not known, another credential may be of another one. */
const sameAs = ({ base_url, account, login, steps }: NewDraft): string =>
  JSON.stringify([base_url, account ?? login, requestsOf({ steps })]);

/** What waits is read once for the rows of a file. */
const waiting = new WeakMap<object, Promise<ReadonlyMap<string, Draft>>>();

/** The draft that waits for the same already. */
async function equalTo(draft: NewDraft, store: DraftStore, { wish, shared }: Judging): Promise<Draft | undefined> {
  const read = async () => {
    const all = await store.list();
    return new Map(all.filter(({ state }) => state === 'waiting').map((each) => [sameAs(each), each]));
  };
  const present = (isKeptOpen(wish) ? waiting.get(shared) : undefined) ?? read();
  if (isKeptOpen(wish)) waiting.set(shared, present);
  return (await present).get(sameAs(draft));
}

/** The rows of a file share one store: opening it for each would read the whole log each time. */
const open = new WeakMap<object, Promise<DraftStore>>();

const isKeptOpen = ({ batch }: SendWish): boolean => batch !== undefined;

function storeOf({ ctx, settings, wish, shared }: Judging): Promise<DraftStore> {
  if (!isKeptOpen(wish)) return openDrafts(ctx, settings.drafts);
  const present = open.get(shared) ?? openDrafts(ctx, settings.drafts);
  open.set(shared, present);
  return present;
}
