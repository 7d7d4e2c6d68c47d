import type { Change, Effect } from './effect.ts';
import { keyOf, type Row, type Thread } from './row.ts';

/** What becomes of something that was asked for. `held`: it leaves at `until`. `back`: it was taken back. */
export type JobState = 'held' | 'sending' | 'done' | 'drafted' | 'refused' | 'unknown' | 'back' | 'told';

export type Job = {
  readonly id: number;
  readonly state: JobState;
  readonly told: string;
  readonly row?: Row;
  readonly draft?: number;
  readonly change?: Change;
  /** The same for what one answer does to several rows. */
  readonly batch?: number;
  /** Of one that is held, in milliseconds of the wall clock. */
  readonly until?: number;
  readonly send?: Extract<Effect, { readonly do: 'send' }>;
};

/** A row that was changed or resolved, and which answer did it. */
export type Done = { readonly batch: number; readonly row: Row };

export type Choice = { readonly value: string; readonly name: string; readonly about?: string };

/** What a question may lead to; `key` answers it. */
type Answer = { readonly key: string; readonly name: string; readonly effects: readonly Effect[] };

/** What lies over the list until it is answered. */
export type Over =
  | { readonly is: 'help'; readonly scroll: number }
  | {
      readonly is: 'pick';
      readonly of: 'view' | 'template' | 'priority' | 'snooze';
      readonly title: string;
      readonly choices: readonly Choice[];
      readonly at: number;
      readonly typed: string;
      readonly rows: readonly Row[];
    }
  | {
      readonly is: 'prompt';
      readonly of: 'search' | 'time';
      readonly title: string;
      readonly text: string;
      readonly wrong?: string;
      readonly rows: readonly Row[];
    }
  | {
      readonly is: 'question';
      readonly title: string;
      readonly shown: string;
      readonly scroll: number;
      readonly answers: readonly Answer[];
      /** Nothing that is held leaves while it is open. */
      readonly holdsAll?: true;
      /** What Escape does: `leave it as a draft`. */
      readonly otherwise: string;
      /** What is told where nobody agrees; empty: nothing. */
      readonly declined: string;
    };

type List = {
  /** The number of the last request for rows: an answer to an earlier one is stale. */
  readonly asked: number;
  /** The number of the last one that was answered. */
  readonly answered: number;
  /** The copy became newer while an answer was awaited: rows are asked for once more when it has come. */
  readonly isBehind: boolean;
  /** The place in the view of the first row that is here. */
  readonly offset: number;
  readonly rows: readonly Row[];
  /** Undefined until it was counted. */
  readonly total: number | undefined;
  /** Places in the whole view. */
  readonly selected: number;
  /** When a row came to where none was, or where another one went away by itself: nobody has seen it there before. */
  readonly cameAt?: number | undefined;
  readonly top: number;
  readonly failed: string | undefined;
  /** Its query is at fault: it is not asked again by itself, for each time may take twenty seconds of everybody's. */
  readonly isWrong: boolean;
};

/** Nothing is here yet. */
export const emptyList = (asked: number): List => ({
  ...{ asked, answered: asked - 1, offset: 0, rows: [], total: undefined, selected: 0, top: 0, failed: undefined },
  ...{ isBehind: false, isWrong: false },
});

type Opened = { readonly row: Row; readonly thread: Thread | undefined; readonly failed?: string };

/** How many drafts a person has to do with: together they are what the view `drafts` holds. */
export type DraftCounts = { readonly waiting: number; readonly sending: number; readonly refused: number };

/** How the copy is. */
export type CopyState = {
  /** When it was last brought up to date; ISO 8601. */
  readonly at: string | undefined;
  readonly isWhole: boolean;
  readonly isPulling: boolean;
  /** What keeps it from being brought up to date, or how far the first reading is. */
  readonly told: string | undefined;
};

/**
 * What was done to a row that the copy does not show yet, and when. `seen`: nobody knows whether it was done, and so the
 * row looked before; it is marked until it looks otherwise, or somebody has opened it.
 */
type Handled = {
  readonly mark: string;
  readonly at: number;
  /** What it is now, where that was changed here. */
  readonly status?: string;
  readonly seen?: Pick<Row, 'status' | 'priority'>;
};

export type Model = {
  readonly size: { readonly columns: number; readonly rows: number };
  /** Milliseconds of the wall clock. */
  readonly now: number;
  readonly view: string;
  readonly words: string | undefined;
  /** The view that a search was begun in: Escape leads back to it. */
  readonly searchedFrom?: string;
  readonly views: readonly Choice[];
  readonly list: List;
  readonly opened: Opened | undefined;
  readonly focus: 'list' | 'thread';
  readonly scroll: number;
  readonly over: Over | undefined;
  /** When what is asked came up by itself, or the question of before was answered. */
  readonly turnedAt?: number | undefined;
  /** The key that answered it: pressed twice, it is meant for nothing else. */
  readonly answer?: string | undefined;
  /** Questions that came while another was open. */
  readonly next: readonly Over[];
  readonly marked: readonly Row[];
  readonly handled: Readonly<Record<string, Handled>>;
  /** The tickets that were resolved or closed last, together: they can be opened again from wherever one is. */
  readonly undo: { readonly batch: number | undefined; readonly rows: readonly Row[] } | undefined;
  readonly jobs: readonly Job[];
  readonly done: readonly Done[];
  readonly count: number;
  readonly copy: CopyState;
  /** Requests left in this minute, as the service last said; `no answer`: to the last request none came. */
  readonly left: number | 'no answer' | undefined;
  readonly drafts: DraftCounts;
  /** The keys of the rows that a draft waits for. */
  readonly drafted: readonly string[];
  /** Somebody asked for what is new, and has no answer yet. */
  readonly isLooking: boolean;
  /** The editor has the screen. */
  readonly isAway: boolean;
  readonly isEnding: boolean;
};

export type Step = { readonly model: Model; readonly effects: readonly Effect[] };

/** A step with no effect on the world. */
export const still = (model: Model): Step => ({ model, effects: [] });

/** So many rows are asked for at once, and kept: a view of 100,000 is never here whole. */
export const windowRows = 200;

export type Start = Pick<Model, 'size' | 'now' | 'view' | 'views'>;

/** The model before anything is known, and what it asks for first. */
export function begin({ size, now, view, views }: Start): Step {
  const model: Model = {
    ...{ size, now, view, views, words: undefined, opened: undefined, focus: 'list', scroll: 0 },
    list: emptyList(1),
    ...{ over: undefined, next: [], marked: [], handled: {}, undo: undefined, jobs: [], done: [], count: 0 },
    copy: { at: undefined, isWhole: true, isPulling: false, told: undefined },
    ...{ left: undefined, drafts: { waiting: 0, sending: 0, refused: 0 }, drafted: [] },
    ...{ isLooking: false, isAway: false, isEnding: false },
  };
  return { model, effects: [{ do: 'list', ask: 1, view, offset: 0, most: windowRows }] };
}

export const selectedRow = ({ list: { rows, offset, selected } }: Pick<Model, 'list'>): Row | undefined =>
  rows[selected - offset];

/** The row whose thread is read, or else the one under the marker. */
export const rowHere = (model: Pick<Model, 'list' | 'opened' | 'focus'>): Row | undefined =>
  model.focus === 'thread' ? model.opened?.row : selectedRow(model);

/** With the status that is shown: of what was done here since the copy was read, else of its thread. */
function asShown(row: Row, { handled, opened }: Pick<Model, 'handled' | 'opened'>): Row {
  const isOpened = opened !== undefined && keyOf(opened.row) === keyOf(row);
  const status = handled[keyOf(row)]?.status ?? (isOpened ? opened.thread?.status : undefined) ?? row.status;
  return status === row.status ? row : { ...row, status };
}

/** What the next key is for, each as it is shown: all that are marked, else the row that is selected. */
export function targetsOf(model: Pick<Model, 'list' | 'marked' | 'opened' | 'focus' | 'handled'>): readonly Row[] {
  const here = rowHere(model);
  const rows = model.marked.length > 0 || here === undefined ? model.marked : [here];
  return rows.map((row) => asShown(row, model));
}

/** Whether the row under the marker is what the keys are for: it is not while a thread is read whose row has left the list. */
export function hasMarker(model: Pick<Model, 'list' | 'opened' | 'focus'>): boolean {
  const [here, under] = [rowHere(model), selectedRow(model)];
  return here === undefined || (under !== undefined && keyOf(under) === keyOf(here));
}

/** Side by side from 100 columns. */
export const isWide = ({ size }: Pick<Model, 'size'>): boolean => size.columns >= 100;
