import type { Model, Over } from './model.ts';
import { nameOf, type Row, whoOf } from './row.ts';

export type Question = Extract<Over, { readonly is: 'question' }>;
export type Pick = Extract<Over, { readonly is: 'pick' }>;
export type Prompt = Extract<Over, { readonly is: 'prompt' }>;

/** So long somebody may take to see that another row stands there, or that something is asked. */
const reactionMs = 700;

/** Whether a key that is pressed now was meant for what was there before. */
export const isJustTurned = ({ turnedAt, now }: Model): boolean => isJustBefore(turnedAt, now);

/** Of a clock that was set back nobody waits for the time of before. */
export const isJustBefore = (at: number | undefined, now: number): boolean =>
  at !== undefined && now >= at && now - at < reactionMs;

/** What is asked comes behind what is asked already. */
const queued = (model: Model, over: Over): Model =>
  model.over ? { ...model, next: [...model.next, over] } : { ...model, over, turnedAt: model.now };

export const question = (model: Model, asked: Omit<Question, 'is' | 'scroll'>): Model =>
  queued(model, { is: 'question', scroll: 0, ...asked });

export const pick = (model: Model, asked: Omit<Pick, 'is' | 'at' | 'typed'>): Model =>
  queued(model, { is: 'pick', ...asked, at: 0, typed: '' });

export const prompt = (model: Model, asked: Omit<Prompt, 'is'>): Model => queued(model, { is: 'prompt', ...asked });

/** What lay over the list goes, and the next question comes. */
export function leaveOver(model: Model): Model {
  const [over, ...next] = model.next;
  return { ...model, over, next, turnedAt: model.now, answer: undefined };
}

/** `T-1008`, `3 that are marked`. */
export const named = (rows: readonly Row[]): string => {
  const [only] = rows;
  return rows.length === 1 && only ? nameOf(only) : `${rows.length} that are marked`;
};

/** What a question is about, a line each. */
export const listed = (rows: readonly Row[]): string =>
  rows.map((row) => [nameOf(row), whoOf(row), row.subject].filter(Boolean).join('  ')).join('\n');
