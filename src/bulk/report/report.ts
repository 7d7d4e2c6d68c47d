import { hearersOf } from '../../api/hearers.ts';
import { filledPath, isPreset } from '../../api/path.ts';
import { followsOf } from '../../command/follow.ts';
import type { Settings } from '../../config/settings.ts';
import { requestsPerMinute } from '../../http/exchange/limiter.ts';
import { sentText } from '../../http/look/confirmed-update.ts';
import { lookingFor } from '../../http/look/looking.ts';
import { fieldsIn } from '../../text/record.ts';
import { type Ended, endedRows, isInDoubt, toldStatus } from '../journal/ended-table.ts';
import type { Plan, Planned } from '../rows/plan.ts';
import type { ReadAs } from '../rows/values.ts';
import type { Totals } from '../run/run.ts';

/** A request as it would go out. */
type Sample = { readonly line: number; readonly method: string; readonly path: string; readonly body?: unknown };

type RowError = { readonly line: number; readonly error: string };

/** rows = done + rejected + unknown + unsent, always. */
export type Report = {
  readonly command: string;
  readonly file: string;
  readonly rows: number;
  readonly done: number;
  readonly rejected: number;
  readonly unknown: number;
  readonly unsent: number;
  /** Of those that are done: drafts that wait for a person. */
  readonly drafted?: number;
  /** Of the drafts of this run: svc drafts approve --batch takes it. */
  readonly batch?: string;
  readonly requests: number;
  /** Rows that an earlier run had settled. */
  readonly resumed_rows: number;
  readonly duration_ms: number;
  readonly errors: readonly RowError[];
  /** By column: values of another system, and what they were read as. */
  readonly read_as?: ReadAs;
  /** Of a dry run. */
  readonly sample?: readonly Sample[];
  /** Of a dry run: how many rows --max-sends lets through of those that earlier runs have left. */
  readonly would_send?: number;
  /** Of a dry run: how many of those would become drafts, which a person approves. */
  readonly would_draft?: number;
  /** Of a dry run: how long the service's limit makes it last. */
  readonly minutes?: number;
};

const fieldNames: Record<keyof Report, true> = {
  ...{ command: true, file: true, rows: true, done: true, rejected: true, unknown: true, unsent: true },
  ...{ drafted: true, batch: true },
  ...{ requests: true, resumed_rows: true, duration_ms: true, errors: true, read_as: true },
  ...{ sample: true, would_send: true, would_draft: true, minutes: true },
};

export const reportFields: readonly string[] = Object.keys(fieldNames);

/** What became of each row, by its position in the file. */
export type Result = {
  readonly status: Ended['status'] | 'rejected';
  readonly id?: number | null;
  readonly error?: string;
  readonly secret?: string;
  readonly drafted?: number;
};

export const resultOf = (plan: Plan, { ended }: Totals, index: number): Result => {
  const problem = plan.problems.get(index);
  if (problem) return { status: 'rejected', error: problem.error };
  const found: Ended = ended.get(index) ?? { status: 'unsent', line: 0 };
  return isInDoubt(found) ? { ...found, status: toldStatus(found) } : found;
};

export function reportOf(command: string, file: string, plan: Plan, totals: Totals): Report {
  const counts = { done: 0, rejected: plan.problems.size, unknown: 0, unsent: 0 };
  const errors: RowError[] = [];
  for (const { line, error } of plan.problems.values()) errors.push({ line, error });
  let drafted = 0;
  for (const ended of totals.ended.values()) {
    const { status: _, line, ...rest } = ended;
    counts[toldStatus(ended)]++;
    if ('drafted' in rest && rest.drafted !== undefined && !isInDoubt(ended)) drafted++;
    if ('error' in rest && rest.error !== undefined) errors.push({ line, error: rest.error });
  }
  counts.unsent = plan.count - counts.done - counts.rejected - counts.unknown;
  return {
    command,
    file,
    rows: plan.count,
    ...counts,
    ...(drafted > 0 && { drafted }),
    ...(totals.draftedNow > 0 && totals.batch !== undefined && { batch: totals.batch }),
    requests: totals.requests,
    resumed_rows: totals.resumedRows,
    duration_ms: Math.round(totals.ms),
    errors: errors.sort((a, b) => a.line - b.line),
  };
}

/** Of no rows at all. */
export const reportOfNothing = (command: string, file: string): Report => {
  const counts = { rows: 0, done: 0, rejected: 0, unknown: 0, unsent: 0 };
  return { command, file, ...counts, requests: 0, resumed_rows: 0, duration_ms: 0, errors: [] };
};

/** Before the first row. */
export const nothingSent = (ms: number): Totals => ({
  ended: endedRows(),
  requests: 0,
  resumedRows: 0,
  doneNow: 0,
  draftedNow: 0,
  besides: [],
  ms,
  looked: { seconds: 0, candidates: [] },
  stopped: undefined,
});

const sampleOf = (plan: Plan, { partnerSegment }: Settings): Sample[] =>
  plan.sample.flatMap(({ line, input }: Planned): Sample[] => {
    const { operation, after, requester: field = '' } = plan.row;
    const params = fieldsIn(input.params);
    const path = filledPath(operation.path, (name) => (isPreset(name) ? partnerSegment : String(params[name])));
    const { after: values, requester } = input;
    // The ids come from the answers to earlier requests.
    const body = requester ? { ...fieldsIn(input.body), [field]: `{id of ${requester.email}}` } : input.body;
    const sample = ({ method, path, body }: Omit<Sample, 'line'>): Sample =>
      body === undefined ? { line, method, path } : { line, method, path, body };
    const first = sample({ method: operation.method, path, body });
    if (!after || !values) return [first, ...followsOf(input.follows ?? []).map(sample)];
    return [first, sample({ ...after.operation, body: values })];
  });

/** Before a message to a customer its thread is read, before a new content the old one, and after a new list the lists. */
const minutesFor = ({ row: { operation, after }, columns, sample }: Plan, sendable: number, beside: number): number => {
  const isInTwoSteps = after !== undefined && columns.targets.some((target) => target?.field?.path === after.field);
  const isRead =
    operation.safety === 'verify' && (operation.params !== undefined || lookingFor(operation).isProvenByList);
  const isCompared = sample.some(({ input }) => sentText(operation, input) !== undefined);
  const follows = sample.map(({ input }) => followsOf(input.follows ?? []).length);
  const each = (isRead || isCompared || isInTwoSteps ? 2 : 1) + Math.max(0, ...follows);
  return Math.ceil((sendable * each + (sendable > 0 ? beside : 0)) / requestsPerMinute);
};

/** `cap`: --max-sends. `beside`: so many requests a run makes before the first row. `isDrafted`: what reaches somebody is held. */
type Bounds = {
  readonly cap?: number;
  readonly beside: number;
  readonly isDrafted: boolean;
  readonly forbidden: number;
};

/** How many rows reach a customer or the public. */
function reaching({ row: { operation }, sendable, published }: Plan): number {
  const hearers = hearersOf(operation);
  if (hearers === 'public') return published;
  return hearers === undefined ? 0 : sendable;
}

/** What would be sent. */
export function dryReport(report: Report, plan: Plan, settings: Settings, bounds: Bounds): Report {
  const { cap = Number.POSITIVE_INFINITY, beside, isDrafted, forbidden } = bounds;
  const most = Math.min(report.unsent - forbidden, cap);
  return {
    ...report,
    sample: sampleOf({ ...plan, sample: plan.sample.slice(0, most) }, settings),
    would_send: most,
    ...(isDrafted && reaching(plan) > 0 && { would_draft: Math.min(most, reaching(plan)) }),
    minutes: minutesFor(plan, most, beside),
  };
}
