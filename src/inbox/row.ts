import type { Account } from '../mirror/tables/store.ts';

/** One line of a view, as `--json` prints it. `kind` says what `id` is the id of. */
export type Row = {
  readonly kind: 'ticket' | 'conversation' | 'feedback' | 'draft';
  readonly id: number;
  readonly number: string | null;
  readonly subject: string | null;
  /** Who it is, as the service sent it; null where nobody is known. */
  readonly contact: Readonly<Record<string, unknown>> | null;
  /** The first message of the customer that nobody answered; ISO 8601. */
  readonly waiting_since: string | null;
  /** Of tickets 0 to 4, of conversations a label. */
  readonly priority: number | string | null;
  readonly channel: string | null;
  readonly status: string | null;
  /** Why it is in the view. */
  readonly why: string | null;
};

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
