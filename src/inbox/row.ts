import type { Queued } from '../answers/queues.ts';
import type { Account } from '../mirror/tables/store.ts';

/** One line of a view, as `--json` prints it: what a queue shows, or a draft. `kind` says what `id` is the id of. */
export type Row = Omit<Queued, 'kind'> & { readonly kind: Queued['kind'] | 'draft' };

export const keyOf = ({ kind, id }: Pick<Row, 'kind' | 'id'>): string => `${kind} ${id}`;

/** As people name it in a sentence: `T-1008`, `conversation 3`. */
export const nameOf = ({ kind, id, number }: Pick<Row, 'kind' | 'id' | 'number'>): string => number ?? `${kind} ${id}`;

/** Whoever wrote, as people call them; empty where nobody is known. */
export function whoOf({ contact }: Pick<Row, 'contact'>): string {
  const { name, last_name: last, email, phone } = contact ?? {};
  const named = [name, last].filter((one) => typeof one === 'string' && one !== '').join(' ');
  return named || String(email ?? phone ?? '');
}

export type ThreadMessage = {
  readonly who: string;
  readonly side: 'customer' | 'team' | 'ai';
  readonly at: string;
  readonly body: string;
  readonly files: readonly string[];
};

/** What is read of one record: all of it as it came, so every line of it is made harmless where it is shown. */
export type Thread = {
  readonly title: string;
  /** `open · priority 3 · by email`, in parts. */
  readonly facts: readonly string[];
  /** Of a ticket or a conversation, as it stands among the facts. */
  readonly status?: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly messages: readonly ThreadMessage[];
};

/** The account of a copy; undefined where its login does not say it. */
export const idOf = ({ id }: Account): number | undefined => (/^\d+$/u.test(id) ? Number(id) : undefined);
