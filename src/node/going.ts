import type { Doing } from '../context.ts';
import { ticks } from '../ticks.ts';

/** What goes on, each with its latest text and, in milliseconds of `ticks`, since when. */
export type Going = Map<Doing, { readonly text: string; readonly since: number }>;

/** The moment in which a thing began stays while its text changes. */
export function note(going: Going, doing: Doing, text: string | undefined): void {
  if (text === undefined) going.delete(doing);
  else going.set(doing, { text, since: going.get(doing)?.since ?? ticks() });
}
