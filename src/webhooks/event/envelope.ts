import { parseUnrounded } from '../../text/exact-json.ts';
import { isDeeperThan, isTooDeep } from '../../text/json-depth.ts';
import { fieldsIn, isRecord } from '../../text/record.ts';

/** Of an HTTP message: names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** The envelope as far as it can be relied on; `data` is whatever the event carries. */
export type Envelope = {
  readonly id: string;
  readonly event: string | null;
  readonly created_at?: unknown;
  readonly data?: unknown;
};

/** The envelope of a body; or why there is none, with the event that the header claims. */
export function readEnvelope(
  raw: Uint8Array,
  claimed: string | null,
): Envelope | { readonly why: string; readonly event: string | null } {
  let body: unknown;
  try {
    const text = utf8.decode(raw);
    if (isTooDeep(text)) return { why: 'nested too deeply', event: claimed };
    body = parseUnrounded(text);
  } catch {
    return { why: 'not JSON', event: claimed };
  }
  if (isDeeperThan(deepest, body)) return { why: 'nested too deeply', event: claimed };
  if (!isRecord(body)) return { why: 'not an object', event: claimed };
  const { id, event } = body;
  const name = typeof event === 'string' ? event : claimed;
  if (typeof id !== 'string' || id === '') return { why: 'without an id', event: name };
  return { ...body, id, event: name };
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Far beyond any envelope, and far below what makes printing JSON run out of stack. */
const deepest = 200;

/** The account that the data tells, which four of the six events do. */
export function accountOf({ data }: Pick<Envelope, 'data'>): number | undefined {
  const { account_id: id } = fieldsIn(data);
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}

/** Undefined where there is none to be read. */
export function envelopeIn(body: Uint8Array): Envelope | undefined {
  const read = readEnvelope(body, null);
  return 'why' in read ? undefined : read;
}
