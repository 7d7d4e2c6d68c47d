import type { Context } from '../context.ts';
import type { Draft, NewDraft } from './draft.ts';

/** What a change makes of a draft; undefined leaves it. `now`: by the store's own clock. */
export type Change = (draft: Draft, now: Date) => Draft | undefined;

/** Where drafts are kept. Each step is on disk before it resolves, and is alone among all who use the store. */
export type DraftStore = {
  /** A folder, or host and database: never a password. */
  readonly place: string;
  /** One with the same key that is there already is returned as it is. */
  add(draft: NewDraft): Promise<Draft>;
  /** All of them, oldest first. */
  list(): Promise<readonly Draft[]>;
  get(id: number): Promise<Draft | undefined>;
  /** The draft after the change; undefined where there is none, or the change left it. */
  change(id: number, change: Change): Promise<Draft | undefined>;
  /** By its own clock. */
  now(): Promise<Date>;
  close(): Promise<void>;
};

export type StoreNeeds = Pick<Context, 'env' | 'files' | 'clock' | 'signal' | 'progress' | 'notice'>;
