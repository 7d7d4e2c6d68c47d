import type { SendMode } from '../config/settings.ts';
import type { Key } from '../screen/keys.ts';
import type { Effect, Kept, Means } from './effect.ts';
import type { Choice, CopyState, DraftCounts, JobState, Model } from './model.ts';
import type { Row, Thread } from './row.ts';

export type Composing = Extract<Effect, { readonly do: 'compose' }>;

/** What comes in. */
export type Event =
  | { readonly is: 'key'; readonly key: Key }
  | { readonly is: 'resize'; readonly columns: number; readonly rows: number }
  | { readonly is: 'tick'; readonly now: number }
  /** A row is named by its place in the view. */
  | { readonly is: 'select'; readonly at: number }
  | {
      readonly is: 'rows';
      readonly ask: number;
      readonly offset: number;
      readonly rows: readonly Row[];
      readonly total: number | undefined;
    }
  | { readonly is: 'no-rows'; readonly ask: number; readonly told: string; readonly isWrong: boolean }
  | { readonly is: 'opened'; readonly row: Row; readonly thread: Thread | undefined; readonly told?: string }
  | { readonly is: 'templates'; readonly rows: readonly Row[]; readonly templates: readonly Choice[] }
  | { readonly is: 'filled'; readonly rows: readonly Row[]; readonly texts: readonly string[]; readonly shown: string }
  | {
      readonly is: 'kept';
      readonly means: Means;
      readonly ends: 'send' | 'draft';
      readonly items: readonly Kept[];
      readonly mode: SendMode;
      readonly holdMs: number;
      /** The text, for whoever has to agree to it. */
      readonly shown: string;
      readonly isAgreed: boolean;
      /** Of what was kept by an answer to a question. */
      readonly batch?: number;
    }
  | {
      readonly is: 'to-approve';
      readonly items: readonly Kept[];
      readonly shown: string;
      readonly holdMs: number;
    }
  | {
      readonly is: 'changed';
      readonly job: number;
      readonly means: Means;
      readonly item: Kept;
      readonly shown: string;
      readonly holdMs: number;
      readonly agreed?: SendMode;
    }
  | {
      readonly is: 'ended-job';
      /** It was as it was wanted already. */
      readonly isUnsent?: boolean;
      readonly job: number;
      readonly state: Exclude<JobState, 'held' | 'sending' | 'back'>;
      readonly told: string;
      readonly mark?: string;
    }
  | { readonly is: 'told'; readonly told: string; readonly state?: 'refused' | 'drafted' | 'done' | 'unknown' }
  /** Before somebody writes in vain: why, in whole sentences. */
  | { readonly is: 'doubt'; readonly why: string; readonly effect: Composing }
  | { readonly is: 'snoozed'; readonly rows: readonly Row[]; readonly told: string }
  | { readonly is: 'wrong-time'; readonly rows: readonly Row[]; readonly typed: string; readonly told: string }
  | { readonly is: 'copy'; readonly copy: Partial<CopyState>; readonly isNew: boolean; readonly began?: number }
  | { readonly is: 'left'; readonly left: Model['left'] }
  /** `records`: the keys of the tickets and conversations that they are for. */
  | { readonly is: 'drafts'; readonly counts: DraftCounts; readonly records: readonly string[] }
  | { readonly is: 'away'; readonly isAway: boolean }
  /** What is asked was read out before somebody answered. */
  | { readonly is: 'said' };
