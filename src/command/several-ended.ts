import { Failure, type FailureKind, isInterruption } from '../errors.ts';
import type { View } from '../output/view.ts';

/** What became of one of several records. */
export type Ended = {
  readonly id: number;
  readonly status: 'done' | 'rejected' | 'unknown' | 'unsent';
  readonly view?: View;
  readonly failure?: Failure;
  /** Of one that is done: a draft that waits for a person. */
  readonly draft?: number;
};

/** `isDone`: its write was, and what came after it failed. */
export function endedBy(id: number, failure: Failure, isDone: boolean): Ended {
  if (failure.drafted) {
    // A draft waits for a person: that is all that was to be done for this record.
    const { id: draft, told: done, record } = failure.drafted;
    return { id, status: 'done', view: { data: { shape: 'record', record }, done }, ...(draft !== null && { draft }) };
  }
  return { id, status: statusBy(failure, isDone), failure };
}

function statusBy(failure: Failure, isDone: boolean): Ended['status'] {
  if (failure.isUnsure) return 'unknown';
  if (isDone) return 'done';
  return failure.isHeld || endsAll(failure) ? 'unsent' : 'rejected';
}

/** What would be the same for every other record. */
export const endsAll = (failure: Failure): boolean =>
  isInterruption(failure) || ['auth', 'network', 'rate-limited', 'failed', 'usage'].includes(failure.kind);

/** Where all ended alike, it is that; else some of it is done, or it is not known of some. */
export function kindOfSeveral(
  failures: readonly Failure[],
  { areAll, isUnknown }: { readonly areAll: boolean; readonly isUnknown: boolean },
): FailureKind {
  const [only, ...others] = new Set(failures.map(({ kind }) => kind));
  if (areAll && only !== undefined && others.length === 0) return only;
  return isUnknown ? 'unknown' : 'partial';
}

export function failureOf(ended: readonly Ended[], count: number, isDry: boolean): Failure | undefined {
  const failures = ended.flatMap(({ failure }) => failure ?? []);
  if (failures.length === 0) return undefined;
  const unknown = failures.find(({ isUnsure }) => isUnsure);
  const kind = kindOfSeveral(failures, { areAll: failures.length === count, isUnknown: unknown !== undefined });
  const would = `${failures.length} of ${count} would not be done.`;
  const doubt = unknown ? ', or it is not known' : '';
  const plain = `${failures.length} of ${count} ${failures.length === 1 ? 'was' : 'were'} not done${doubt}.`;
  return new Failure(kind, isDry ? would : plain, { isWhole: true, hint: unknown?.hint });
}

/** Of a dry run: the records for which nothing would be sent, each in a sentence. */
export const needless = (ended: readonly Ended[]): string[] =>
  ended.map(({ id, view, failure }) => (failure ? failedInWords(id, failure) : (view?.done ?? `${id} needs nothing.`)));

/** Most messages name the record. */
export const failedInWords = (id: number, { message }: Failure): string =>
  new RegExp(`^[^:]*\\b${id}\\b`, 'u').test(message) ? message : `${id}: ${message}`;

/** Of the summary. */
const summaryFields: Record<keyof Summary, true> = {
  ...{ command: true, rows: true, done: true, rejected: true, unknown: true, unsent: true },
  ...{ drafted: true, errors: true, records: true },
};

export const severalFields: readonly string[] = Object.keys(summaryFields);

type Summary = {
  readonly command: string;
  readonly rows: number;
  readonly done: number;
  /** Of those that are done: drafts that wait for a person. */
  readonly drafted?: number;
  readonly rejected: number;
  readonly unknown: number;
  readonly unsent: number;
  readonly errors: readonly { readonly id: number; readonly error: string }[];
  readonly records: readonly unknown[];
};

/** The summary: rows = done + rejected + unknown + unsent, always. */
export function viewOf(words: string, ids: readonly number[], ended: readonly Ended[]): View {
  const views = ended.flatMap(({ view }) => view ?? []);
  const failed = ended.flatMap(({ id, failure }) => (failure ? [{ id, failure }] : []));
  const count = (status: Ended['status']) => ended.filter((one) => one.status === status).length;
  const drafted = ended.filter(({ draft }) => draft !== undefined).length;
  const record: Summary = {
    command: words,
    rows: ids.length,
    done: count('done'),
    ...(drafted > 0 && { drafted }),
    rejected: count('rejected'),
    unknown: count('unknown'),
    unsent: ids.length - ended.length + count('unsent'),
    errors: failed.map(({ id, failure }) => ({ id, error: failure.message })),
    records: views.flatMap(({ data }) => (data.shape === 'record' ? [data.record] : [])),
  };
  return {
    data: { shape: 'record', record },
    human: async (terminal) => {
      const { doneLine } = await import('../output/done.ts');
      return views.map((view) => doneLine(view.done ?? 'Done.', terminal)).join('\n');
    },
    plain: () => ids.map((id, at) => `${id}\t${statusOf(ended[at])}\n`).join(''),
    notes: [
      ...failed.map(({ id, failure }) => failedInWords(id, failure)),
      `${record.rows} in all: ${doneInWords(record)}, ${record.rejected} rejected, ${record.unknown} unknown, ${record.unsent} not sent.`,
    ],
  };
}

/** A draft was not sent, so it is not called done. */
const doneInWords = ({ done, drafted = 0 }: Summary): string =>
  drafted > 0 ? `${drafted} drafted${done > drafted ? `, ${done - drafted} done` : ', nothing sent'}` : `${done} done`;

function statusOf(one: Ended | undefined): string {
  if (one?.draft !== undefined) return `draft ${one.draft}`;
  return one?.status ?? 'unsent';
}
