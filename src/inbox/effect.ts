import type { SendMode } from '../config/settings.ts';
import type { Row } from './row.ts';

/** What is to be written of a record that no customer hears of. */
export type Change =
  | { readonly act: 'resolve' | 'close' }
  /** `to`: the state of before, where something is taken back; else open. */
  | { readonly act: 'reopen'; readonly to?: string }
  | { readonly act: 'priority'; readonly priority: number };

/** A text, or a resolve of a conversation, that is kept as a draft before anything is sent. */
export type Kept = { readonly row: Row; readonly draft: number; readonly digest: string; readonly told: string };

export type Means = 'reply' | 'note' | 'resolve';

/** What the world is asked to do. Each is answered by an event, now or later. */
export type Effect =
  | {
      readonly do: 'list';
      readonly ask: number;
      readonly view: string;
      readonly words?: string;
      readonly offset: number;
      readonly most: number;
    }
  | { readonly do: 'open'; readonly row: Row; readonly view: string }
  | { readonly do: 'templates'; readonly rows: readonly Row[] }
  | { readonly do: 'fill'; readonly template: string; readonly rows: readonly Row[] }
  /** In the editor. What is written is a draft before the event comes. */
  | {
      readonly do: 'compose';
      readonly means: Means;
      readonly rows: readonly Row[];
      readonly ends: 'send' | 'draft';
      readonly initial?: readonly string[];
      /** Somebody has read why it may be in vain, and writes all the same. */
      readonly isAgreed?: boolean;
    }
  /** Keeps what was agreed to: texts of a template, one for each row, or the resolve of a conversation. */
  | {
      readonly do: 'keep';
      readonly means: Means;
      readonly rows: readonly Row[];
      readonly texts: readonly string[];
      readonly ends: 'send' | 'draft';
      /** The same for what one answer does to several. */
      readonly batch?: number;
    }
  | { readonly do: 'edit'; readonly draft: number; readonly row: Row; readonly means: Means }
  | {
      readonly do: 'send';
      readonly job: number;
      readonly means: Means;
      readonly draft: number;
      readonly digest: string;
      readonly row: Row;
      /** It may still be taken back for so long. */
      readonly holdMs: number;
      /** Under what mode it was agreed to; a stricter one that was set since keeps it. Absent: a draft that was approved. */
      readonly agreed?: SendMode;
      readonly batch?: number;
    }
  | { readonly do: 'reject'; readonly draft: number }
  | { readonly do: 'change'; readonly job: number; readonly row: Row; readonly change: Change }
  | { readonly do: 'snooze'; readonly rows: readonly Row[]; readonly until: SnoozeUntil }
  | { readonly do: 'read-drafts'; readonly rows: readonly Row[] }
  | { readonly do: 'looked'; readonly row: Row }
  | { readonly do: 'copy'; readonly text: string }
  | { readonly do: 'pull' }
  | { readonly do: 'suspend' }
  /** `isNow`: what is on its way is not waited for. */
  | { readonly do: 'end'; readonly isNow?: true };

/** `customer`: until the customer writes. `back`: no longer. A time is ISO 8601; `hour` and the like are counted from now. */
export type SnoozeUntil = 'hour' | 'tomorrow' | 'monday' | 'customer' | 'back' | { readonly time: string };
