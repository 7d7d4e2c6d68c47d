import { isUtf8 } from 'node:buffer';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn, isRecord, isText } from '../../text/record.ts';
import type { Headers } from '../event/envelope.ts';

/** A delivery as it came. `body` holds the very bytes that were signed. */
export type Arrival = {
  /** The envelope's id; for an unreadable delivery one that svc gave it. Of several accounts it begins with the account's name. */
  readonly id: string;
  /** Of several accounts in one inbox: whose it is. */
  readonly account?: string;
  readonly event: string | null;
  /** When it came, ISO 8601. */
  readonly at: string;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Why there is no envelope in it. */
  readonly unreadable?: string;
  /** Where it is to be forwarded; absent: nowhere. */
  readonly to?: string;
  /** It is to be forwarded, and whoever does so knows where to. */
  readonly owed?: true;
  /** Of `serve`: the sinks that are to get it. */
  readonly sinks?: readonly string[];
  /** What it tells of (`happeningOf`), null where that is not known; absent in what an older svc wrote. */
  readonly happening?: string | null;
};

/** What became of passing a delivery on. */
export type Outcome = {
  readonly to: string;
  readonly at: string;
  /** The app's answer; absent where none came. */
  readonly status?: number;
  readonly error?: string;
  readonly ms: number;
  readonly tries: number;
  /** Sent again by hand; says nothing about whether the first forwarding is still owed. */
  readonly replay?: true;
  /** A filter did not want it. */
  readonly skipped?: true;
  /** Of `serve`, where `to` is the sink's name. Absent: it was delivered. */
  readonly state?: (typeof sinkStates)[number];
};

const sinkStates = ['delivered', 'failed', 'dead', 'dropped', 'skipped', 'again'] as const;

/** What became of storing a delivery: `repeat` was there before. */
export type Added = 'stored' | 'repeat';

export type InboxLine =
  | { readonly kind: 'arrival'; readonly arrival: Arrival }
  | { readonly kind: 'outcome'; readonly id: string; readonly outcome: Outcome }
  /** How many arrivals count, from the last such line on. */
  | { readonly kind: 'limit'; readonly limit: number };

/** One line of JSON with its newline. A body that is not UTF-8 is written in base64, so that no byte is ever changed. */
export function encodeLine(line: InboxLine): string {
  if (line.kind === 'limit') return `${JSON.stringify({ limit: line.limit })}\n`;
  if (line.kind === 'outcome') return `${JSON.stringify({ id: line.id, outcome: line.outcome })}\n`;
  // One literal, no spreading: this runs for every delivery. Undefined fields are left out by JSON.stringify.
  const { id, account, event, at, headers, unreadable, to, owed, sinks, happening, body } = line.arrival;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const isRead = isUtf8(bytes);
  const text = isRead ? bytes.toString('utf8') : undefined;
  const base64 = isRead ? undefined : bytes.toString('base64');
  return `${JSON.stringify({ id, account, event, at, headers, unreadable, to, owed, sinks, happening, body: text, base64 })}\n`;
}

/** Undefined for what is no line of an inbox: a torn end, damage. */
export function decodeLine(text: string): InboxLine | undefined {
  const value = jsonIn(text);
  if (!isRecord(value)) return undefined;
  if (typeof value.limit === 'number') return { kind: 'limit', limit: value.limit };
  const { id, outcome, body, base64 } = value;
  if (!isText(id)) return undefined;
  if (typeof outcome === 'object' && outcome !== null) {
    return isOutcome(outcome) ? { kind: 'outcome', id, outcome } : undefined;
  }
  const bytes = decodeBody(body, base64);
  return bytes && { kind: 'arrival', arrival: { ...aboutOf(value), id, body: bytes } };
}

/** The same of the bytes of a line, where there are any. */
export const lineIn = (bytes: Buffer | undefined): InboxLine | undefined => bytes && decodeLine(bytes.toString('utf8'));

function isOutcome(value: object): value is Outcome {
  const { to, at, status, error, ms, tries, state } = fieldsIn(value);
  const isKnown = state === undefined || sinkStates.some((each) => each === state);
  const isRead = isText(to) && isText(at) && typeof ms === 'number' && typeof tries === 'number' && isKnown;
  return isRead && ['number', 'undefined'].includes(typeof status) && ['string', 'undefined'].includes(typeof error);
}

/** What somebody else wrote into the file is left out, field by field: the body was accepted and is kept. */
function aboutOf(line: Record<string, unknown>): Omit<Arrival, 'id' | 'body'> {
  const { account, event, at, headers, unreadable, to, owed, sinks, happening } = line;
  return {
    ...(isText(account) && { account }),
    event: isText(event) ? event : null,
    at: isText(at) ? at : new Date(0).toISOString(),
    headers: textsOf(headers),
    ...(isText(unreadable) && { unreadable }),
    ...(isText(to) && { to }),
    ...(owed === true && { owed }),
    ...(Array.isArray(sinks) && { sinks: sinks.filter(isText) }),
    ...((isText(happening) || happening === null) && { happening }),
  };
}

/** Headers with one text each: Node gives a list where a header may come several times. */
export function textsOf(headers: unknown): Headers {
  const given = fieldsIn(headers);
  const texts: Record<string, string> = {};
  for (const name of Object.keys(given)) {
    const value = given[name];
    const text = Array.isArray(value) ? value.filter(isText).join(', ') : value;
    // A name that would not become one of its own is no header that anybody reads.
    if (isText(text) && name !== '__proto__') texts[name] = text;
  }
  return texts;
}

function decodeBody(body: unknown, base64: unknown): Uint8Array | undefined {
  if (isText(body)) return Buffer.from(body, 'utf8');
  return isText(base64) ? Buffer.from(base64, 'base64') : undefined;
}

/** Whether an app is to get it. */
export const isOwed = ({ to, owed }: Pick<Arrival, 'to' | 'owed'>): boolean => to !== undefined || owed === true;

/** Whether the outcome ends what was owed. */
export const settles = (outcome: Outcome): boolean => !outcome.replay;

/** Made from a record by `svc webhooks catch-up`. It is kept, so that the same is never made again. */
export const isRebuilt = (id: string): boolean => /^(?:[\w-]+\/)?rebuilt:/u.test(id);

export const rebuiltPrefix = 'rebuilt:';

/** The sinks for which it is a dead letter, with the last outcome of each. */
export function deadIn(outcomes: readonly Outcome[]): Outcome[] {
  const last = new Map<string, Outcome>();
  for (const outcome of outcomes) if (!outcome.replay) last.set(outcome.to, outcome);
  return [...last.values()].filter(({ state }) => state === 'dead');
}
