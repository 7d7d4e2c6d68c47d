import type { Input, Operation } from '../api/operation.ts';
import { unwrap } from '../command/from-operation.ts';
import type { RowOf } from '../command/row.ts';
import type { Context, HttpResponse, Lost } from '../context.ts';
import { Failure, messageOf } from '../errors.ts';
import { type CallOptions, call, type Known, lookFor, type Service } from '../http/call.ts';
import { type Before, isNewestFirst, madeIds, readBefore } from '../http/look.ts';
import type { Journal } from './journal.ts';
import type { Planned } from './plan.ts';

/** What became of a row in this run. `unsent`: nothing happened, and why. */
export type Outcome =
  | { readonly status: 'done'; readonly id: number | null; readonly answer?: unknown }
  | { readonly status: 'rejected'; readonly error: string; readonly failure: Failure }
  | { readonly status: 'unknown'; readonly error: string; readonly failure?: Failure }
  | { readonly status: 'unsent'; readonly failure: Failure };

export type Sender = {
  /** Writes down that the rows will leave, before the first of them does: one wait for the disk for all of them. */
  mean(rows: readonly Planned[]): Promise<void>;
  /** Sends a row, and writes down that it leaves before it does. */
  send(planned: Planned): Promise<Outcome>;
  /** Looks for what an earlier request for the row may have made; undefined where it is not found. */
  find(planned: Planned, before: number | null, settleMs: number): Promise<Outcome | 'gone' | undefined>;
  /** Requests made so far, repetitions and looks included. */
  requests(): number;
};

export function createSender(outer: Service, row: RowOf, journal: Journal): Sender {
  const { operation } = row;
  const isRepeatable = operation.safety === 'repeatable';
  let requests = 0;
  let baseline: Promise<Before | undefined> | undefined;
  let supplied: Promise<(id: number) => object> | undefined;
  /** What may be taken for a row of unknown outcome, and the other way round. */
  const doubtful = new Set<string>();
  const options: CallOptions = { maxWaitMs: outer.settings.maxWaitMs ?? Number.POSITIVE_INFINITY };
  const own = outer.learnt.made.get(operation.id) ?? new Set<number>();
  outer.learnt.made.set(operation.id, own);
  // By hand: spreading 10,000 ids into Math.max for each row would cost more than the row.
  let newestOwn = 0;
  for (const { status, ...fate } of journal.fates.values()) {
    if (status === 'done' && 'id' in fate && fate.id !== null) note(fate.id);
  }

  function note(id: number): void {
    own.add(id);
    newestOwn = Math.max(newestOwn, id);
  }

  /** A first Ctrl-C lets what is in flight be answered: the signal ends waits, not requests. */
  const through = (
    hook: (request: { method: string }) => Promise<void>,
    settled: (answer: HttpResponse | Lost) => Promise<void>,
  ): Service => {
    const exchange: Context['exchange'] = async (request) => {
      requests++;
      const isWrite = request.method === operation.method;
      if (isWrite) await hook(request);
      const answer = await outer.ctx.exchange({ ...request, signal: undefined });
      if (isWrite) await settled(answer);
      return answer;
    };
    return { ...outer, ctx: Object.create(outer.ctx, { exchange: { value: exchange } }) as Context };
  };
  const reading = through(
    async () => {},
    async () => {},
  );

  /** What is there before the row is sent: of what is listed newest first it is read once, and moves on with our own ids. */
  async function knownBefore(input: Input<Operation>): Promise<Before | undefined> {
    const read = () => readBefore((asked, wanted) => call(reading, asked, wanted, options), operation, input);
    if (operation.params) return read();
    baseline ??= read();
    const first = await baseline;
    return first && isNewestFirst(operation) ? { ...first, upTo: Math.max(first.upTo, newestOwn) } : first;
  }

  async function complete({ id, input }: Planned): Promise<Input<Operation>> {
    const { supply } = row;
    const body = (input.body ?? {}) as object;
    if (!supply || id === undefined || supply.fields.every((field) => field in body)) return input;
    supplied ??= supply.load(reading);
    return { ...input, body: { ...(await supplied)(id), ...body } } as Input<Operation>;
  }

  async function mean(rows: readonly Planned[]): Promise<void> {
    const { safety, params } = operation;
    // What may be done twice needs no trace, and where the record is read before each row, that takes longer than the disk.
    const [first] = rows;
    if (!first || isRepeatable || (safety === 'verify' && params) || !journal.tellsKills) return;
    try {
      const known = safety === 'verify' ? await knownBefore(first.input) : undefined;
      const before = known ? newestOf(known) : null;
      await journal.write({ meant: { rows: rows.map(({ ref, line }) => ({ row: ref, line })), before } });
    } catch (error) {
      // Each row meets the same failure when it is sent, and ends the run by it.
      if (!(error instanceof Failure)) throw error;
    }
  }

  async function send(planned: Planned): Promise<Outcome> {
    const { ref, line } = planned;
    let hasLeft = false;
    let before: Before | undefined;
    const service = through(
      async () => {
        // What may be done twice needs no trace of its leaving: the next run does it again.
        if (!isRepeatable) await journal.write({ sent: { row: ref, line, before: before ? newestOf(before) : null } });
        hasLeft = true;
      },
      async (answer) => {
        const isNothing = 'lost' in answer ? answer.lost === 'before-sending' : answer.status === 429;
        if (!isNothing) return;
        if (!isRepeatable) await journal.write({ back: { row: ref, line } });
        hasLeft = false;
      },
    );
    try {
      const input = await complete(planned);
      let known: Known | undefined;
      if (operation.safety === 'verify') {
        before = await knownBefore(input);
        known = before && !planned.keys.some((key) => doubtful.has(key)) ? before : 'nothing';
      }
      const answer = await call(service, operation, input, { ...options, before: known });
      const id = idOf(answer, planned);
      if (id !== null && operation.makes) note(id);
      return { status: 'done', id, answer };
    } catch (error) {
      const outcome = outcomeOf(error, hasLeft);
      if (outcome.status === 'unknown') for (const key of planned.keys) doubtful.add(key);
      if (outcome.status === 'unsent' && hasLeft && !isRepeatable) await journal.write({ back: { row: ref, line } });
      return outcome;
    }
  }

  /** The id of what was made, else of what was changed. */
  function idOf(answer: unknown, { id }: Pick<Planned, 'id'>): number | null {
    const [made] = madeIds(operation, answer);
    if (made !== undefined) return made;
    const { id: answered } = (operation.method === 'POST' ? unwrap(operation, answer) : {}) as {
      readonly id?: unknown;
    };
    return typeof answered === 'number' ? answered : (id ?? null);
  }

  function outcomeOf(error: unknown, hasLeft: boolean): Outcome {
    if (journal.failure()) {
      const failure = journal.failure() as Failure;
      return hasLeft ? { status: 'unknown', error: failure.message, failure } : { status: 'unsent', failure };
    }
    if (!(error instanceof Failure)) {
      const failure = new Failure('failed', `svc failed unexpectedly: ${messageOf(error)}`, { cause: error });
      return hasLeft ? { status: 'unknown', error: failure.message, failure } : { status: 'unsent', failure };
    }
    const text = inWords(error);
    if (error.kind === 'unknown' || error.mayBeDone) return { status: 'unknown', error: text, failure: error };
    return judged.includes(error.kind)
      ? { status: 'rejected', error: text, failure: error }
      : { status: 'unsent', failure: error };
  }

  return {
    mean,
    send,
    requests: () => requests,
    async find(planned, before, settleMs) {
      if (operation.safety !== 'verify') return undefined;
      const known: Known = before === null ? 'nothing' : { ids: new Set(), upTo: before, isWhole: true };
      const findings = await lookFor(reading, operation, planned.input, known, settleMs);
      if ('removed' in findings) return 'gone';
      if (!('found' in findings)) return undefined;
      const id = idOf(findings.found, planned);
      if (id !== null) note(id);
      return { status: 'done', id, answer: findings.found };
    },
  };
}

const newestOf = ({ ids, upTo }: Before): number => {
  let newest = upTo;
  for (const id of ids) newest = Math.max(newest, id);
  return newest;
};

/** What the service says of this row, and would say again. */
const judged: readonly Failure['kind'][] = ['rejected', 'not-found', 'usage'];

function inWords({ message, fields }: Failure): string {
  const details = Object.entries(fields ?? {}).map(([field, messages]) => `${field} ${messages.join(' and ')}`);
  // What the service says by field is all that its message says.
  return details.length > 0 ? details.join('; ') : message.replace(/\.$/u, '');
}
