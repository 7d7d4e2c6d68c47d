import type { Job, JobState, Model, Step } from './model.ts';

/** A line that tells something; the same one is told once. */
export function told(model: Model, text: string, state: Exclude<JobState, 'held' | 'sending'>): Model {
  const last = model.jobs.at(-1);
  if (last?.told === text && last.state === state) return model;
  return withJob(model, { state, told: text }).model;
}

/** With another line; `id` is its number. */
export function withJob(model: Model, job: Omit<Job, 'id'>): { readonly model: Model; readonly id: number } {
  const id = model.count + 1;
  // Of what went well only the last is still worth a line.
  const jobs = model.jobs.filter(({ state }) => state !== 'done' && state !== 'back' && state !== 'told');
  return { model: { ...model, count: id, jobs: [...jobs, { ...job, id }] }, id };
}

const isOpen = ({ state }: Job): boolean => state === 'held' || state === 'sending';

/** The line that is shown: what is to be read first, else what is under way. */
export const shownJob = ({ jobs }: Pick<Model, 'jobs'>): Job | undefined =>
  jobs.find((job) => !isOpen(job) && job.state !== 'done') ?? jobs.find(isOpen) ?? jobs.at(-1);

/** The line that was shown is read, and gone. */
export function readShown(model: Model): Model {
  const shown = shownJob(model);
  if (!shown || isOpen(shown)) return model;
  return { ...model, jobs: model.jobs.filter((job) => job !== shown) };
}

/** What went well was seen by whoever goes on. */
export function readDone(model: Model): Model {
  if (!model.jobs.some(({ state }) => state === 'done')) return model;
  return { ...model, jobs: model.jobs.filter(({ state }) => state !== 'done') };
}

/** Everything that is held goes back to its draft. */
export function takenBack(model: Model): Step {
  const held = model.jobs.filter(({ state }) => state === 'held');
  const resolves = held.flatMap(({ send }) => (send?.means === 'resolve' ? [send.draft] : []));
  const jobs = model.jobs.map((job) =>
    held.includes(job) ? { ...job, state: 'back' as const, told: backWords(job) } : job,
  );
  return { model: { ...model, jobs }, effects: resolves.map((draft) => ({ do: 'reject', draft })) };
}

const backWords = ({ draft, send }: Job): string =>
  send?.means === 'resolve'
    ? 'Taken back. Nothing was sent.'
    : `Taken back. Nothing was sent; the text is draft ${draft}.`;
