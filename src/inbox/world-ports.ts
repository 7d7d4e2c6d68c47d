import type { SendMode } from '../config/settings.ts';
import type { Editing } from './compose.ts';
import type { Event } from './event.ts';
import type { Reading } from './source.ts';
import type { Writing } from './writes.ts';

/** What the effects act on. */
export type World = {
  /** The copy, once it is open. */
  readonly reading: () => Promise<Reading>;
  readonly writing: Writing;
  readonly editing: Editing;
  readonly tell: (event: Event) => void;
  readonly mode: () => Promise<SendMode>;
  readonly copyText: (text: string) => void;
  readonly pull: () => void;
  /** The end waits for it. It never fails. */
  readonly outlast: (work: Promise<void>) => void;
  readonly suspend: () => void;
  /** `isNow`: as Ctrl-C does. */
  readonly end: (isNow: boolean) => void;
};
