import type { Effect } from './effect.ts';
import type { Job, JobState, Model, Step } from './model.ts';

/** A line that tells something; the same one is told once. */
export function told(model: Model, text: string, state: Exclude<JobState, 'held' | 'sending'>): Model {
  const last = model.jobs.at(-1);
  if (last?.told === text && last.state === state) return model;
  return withJob(model, { state, told: text }).model;
}

/** Of what went well only the last is still worth a line. */
export const isPassing = ({ state }: Job): boolean => state === 'done' || state === 'back' || state === 'told';

/** With another line; `id` is its number. */
export function withJob(model: Model, job: Omit<Job, 'id'>): { readonly model: Model; readonly id: number } {
  const id = model.count + 1;
  const jobs = model.jobs.filter((one) => !isPassing(one));
  return { model: { ...model, count: id, jobs: [...jobs, { ...job, id }] }, id };
}

const isOpen = ({ state }: Job): boolean => state === 'held' || state === 'sending';

/** The line that is shown: what happened last. The others are counted beside it. */
export const shownJob = ({ jobs }: Pick<Model, 'jobs'>): Job | undefined => jobs.at(-1);

/** The line that was shown is read, and gone; of what is under way, the last that is over. */
export function readShown(model: Model): Model {
  const read = model.jobs.findLast((job) => !isOpen(job));
  return read ? { ...model, jobs: model.jobs.filter((job) => job !== read) } : model;
}

/** What went well was seen by whoever goes on. */
export function readDone(model: Model): Model {
  if (!model.jobs.some(isPassing)) return model;
  return { ...model, jobs: model.jobs.filter((job) => !isPassing(job)) };
}

/** What is held is counted down each second. A step that is so long is none: svc stood still (Ctrl-Z, sleep), or the clock was set. */
const longestStepMs = 3_000;

/**
 * The model as of now. What svc stood still for does not count for what is held: whoever stopped it may still take it back. Nor
 * does it wait longer where the clock was set back.
 */
export function asOf(model: Model, now: number): Model {
  const passed = now - model.now;
  const isStep = passed >= 0 && passed < longestStepMs;
  if (isStep || !model.jobs.some(({ state }) => state === 'held')) return { ...model, now };
  const jobs = model.jobs.map((job) => (job.until === undefined ? job : { ...job, until: job.until + passed }));
  return { ...model, now, jobs };
}

/** Everything that is held goes back to its draft. */
export function takenBack(model: Model): Step {
  const held = model.jobs.filter(({ state }) => state === 'held');
  const jobs = model.jobs.map((job) =>
    held.includes(job) ? { ...job, state: 'back' as const, told: backWords(job) } : job,
  );
  return { model: { ...model, jobs }, effects: rejectsOf(held) };
}

/** A resolve that is taken back leaves no draft; a text stays one. */
export const rejectsOf = (held: readonly Job[]): Effect[] =>
  held.flatMap(({ send }): Effect[] => (send?.means === 'resolve' ? [{ do: 'reject', draft: send.draft }] : []));

const backWords = ({ draft, send }: Job): string =>
  send?.means === 'resolve'
    ? 'Taken back. Nothing was sent.'
    : `Taken back. Nothing was sent; the text is draft ${draft}.`;
