import { operationNamed, takes } from '../api/takes.ts';
import type { Before } from '../http/look/before.ts';
import { hexDigestOf } from '../text/digest.ts';
import { fieldsIn } from '../text/record.ts';

export const draftStates = ['waiting', 'sending', 'sent', 'rejected', 'refused', 'unknown'] as const;

/** One request of a draft. Later ones leave once the one before is surely done. */
export type Step = {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  /** `left`: it may have reached the service. */
  readonly state: 'waiting' | 'left' | 'done';
  /** Of a step that left: what was there before, by which it is looked for. */
  readonly before?: Before | null;
  readonly sent_id: number | null;
};

/** What was seen of the record that a draft is about; approving it holds this against what is there then. */
export type Seen = {
  /** Who hears of it, as people are named. */
  readonly to: string | null;
  /** The same for a program: another id, email or phone is another recipient. */
  readonly recipient: string | null;
  readonly channel: string | null;
  /** Of the record. */
  readonly status: string | null;
  readonly number: string | null;
  /** Of the thread; of an entry its title. Drafts of an older svc lack it. */
  readonly subject?: string | null;
  /** The newest message of the thread. */
  readonly answers: { readonly message_id: number; readonly created_at: string } | null;
  /** How many the thread has: one that comes late need not be the newest. Drafts of an older svc lack it. */
  readonly messages?: number;
  /** A digest of what would become public. */
  readonly content: string | null;
};

/** `step`: whose text it was, from 0; the first where it is left out. */
type Edit = { readonly at: string; readonly by: string; readonly before: string | null; readonly step?: number };

/** Who sends a draft at this time. */
type Claim = { readonly token: string; readonly by: string; readonly until: string };

export type Draft = Seen & {
  readonly id: number;
  readonly state: (typeof draftStates)[number];
  readonly batch: string | null;
  readonly key: string | null;
  readonly operation: string;
  readonly record: { readonly kind: string; readonly id: number | null };
  readonly steps: readonly Step[];
  readonly base_url: string;
  readonly account: number | null;
  /** A digest of the credential that made it. Drafts of an older svc lack it. */
  readonly login?: string | null;
  readonly created_at: string;
  readonly by: string;
  readonly edited_by: string | null;
  /** The texts before each edit. */
  readonly edits: readonly Edit[];
  readonly decided_at: string | null;
  readonly decided_by: string | null;
  readonly reason: string | null;
  readonly error: string | null;
  readonly claim: Claim | null;
};

/** As it is given to the store, which numbers it. */
export type NewDraft = Omit<Draft, 'id'>;

/** The field of a request that holds the text that people read. One of the same name in another request is only a field. */
export function textField({ operation: id, body }: Pick<Step, 'operation' | 'body'>): 'body' | 'content' | undefined {
  const operation = operationNamed(id);
  const isText = (name: string) => typeof fieldsIn(body)[name] === 'string';
  return (['body', 'content'] as const).find((name) => operation && takes(operation, name) && isText(name));
}

export const textOf = ({ steps: [first] }: Pick<Draft, 'steps'>): string | null => textOfStep(first);

export function textOfStep(step: Step | undefined): string | null {
  const name = step && textField(step);
  return name === undefined ? null : String(fieldsIn(step?.body)[name]);
}

/** All that leaves of it, to compare. */
export const requestsOf = ({ steps }: Pick<Draft, 'steps'>): string =>
  JSON.stringify(steps.map(({ method, path, body }) => [method, path, body ?? null]));

/** A part of it is sent already. */
export const hasBegun = ({ steps }: Pick<Draft, 'steps'>): boolean => steps.some(({ state }) => state === 'done');

/** Of all that a person agrees to: the requests, who gets them, by which channel, and what they answer. */
export const digestOfDraft = (draft: Pick<Draft, 'steps' | keyof Seen>): string =>
  hexDigestOf(
    JSON.stringify([
      draft.steps.map(({ method, path, body, state }) => [method, path, body ?? null, state === 'done']),
      ...[draft.to, draft.recipient, draft.channel, draft.answers?.message_id ?? null, draft.status, draft.content],
      ...(draft.messages === undefined ? [] : [draft.messages]),
    ]),
  ).slice(0, 32);

/** As `--json` shows it: what people and programs may rely on. */
export function shownDraft(draft: Draft) {
  const { id, state, batch, operation, record, to, channel, answers, steps } = draft;
  const [first] = steps;
  return {
    ...{ id, state, batch, operation },
    record: { kind: record.kind, id: record.id, number: draft.number },
    ...{ subject: draft.subject ?? null, to, channel, body: textOf(draft), answers, digest: digestOfDraft(draft) },
    ...{ created_at: draft.created_at, by: draft.by, edited_by: draft.edited_by },
    ...{ decided_at: draft.decided_at, decided_by: draft.decided_by, reason: draft.reason },
    ...{ sent_id: first?.sent_id ?? null, error: draft.error, account: draft.account, status: draft.status },
    steps: steps.map(({ before: _, ...step }) => step),
  };
}

const ofDraft: Readonly<Record<keyof ReturnType<typeof shownDraft>, true>> = {
  ...{ id: true, state: true, batch: true, operation: true, record: true, to: true, channel: true, body: true },
  ...{ answers: true, digest: true, created_at: true, by: true, edited_by: true, decided_at: true, decided_by: true },
  ...{ reason: true, sent_id: true, error: true, account: true, status: true, subject: true, steps: true },
};

/** What it has. */
export const draftFields: readonly string[] = Object.keys(ofDraft);
