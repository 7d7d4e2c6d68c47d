import { timingSafeEqual } from 'node:crypto';
import { digest } from '../../api/signature.ts';
import { isDeeperThan } from '../../text/json-depth.ts';
import { isRecord } from '../../text/record.ts';

export type Headers = Readonly<Record<string, string>>;

/** The envelope as far as it can be relied on; `data` is whatever the event carries. */
export type Envelope = {
  readonly id: string;
  readonly event: string | null;
  readonly created_at?: unknown;
  readonly data?: unknown;
};

export type Refusal = 'no-signature' | 'wrong-length' | 'not-hex' | 'upper-case' | 'no-match';

/** In words, for a line and for `verify`. */
export const refusals: Readonly<Record<Refusal, string>> = {
  'no-signature': 'it has no X-SVC-Signature',
  'wrong-length': 'the signature is not 64 characters long',
  'not-hex': 'the signature is not hexadecimal',
  'upper-case': 'the signature is in upper case; the service sends lower-case hex',
  'no-match': 'signed with another secret, or the body was changed on the way',
};

export type Verdict =
  | { readonly kind: 'accepted'; readonly envelope: Envelope }
  /** Signed by the service, but not an envelope: kept and passed on all the same. */
  | { readonly kind: 'unreadable'; readonly why: string; readonly event: string | null }
  | { readonly kind: 'repeat'; readonly envelope: Envelope }
  | { readonly kind: 'rejected'; readonly why: Refusal };

/**
 * Decides about a delivery (service.md#webhooks-3): the signature over the raw bytes first, before
 * anything is parsed; then the id, by which deliveries are told apart (service.md#delivery-4).
 */
export function judge(
  headers: Headers,
  raw: Uint8Array,
  secrets: readonly string[],
  seen: (id: string) => boolean,
): Verdict {
  const why = refusal(headers['x-svc-signature'], raw, secrets);
  if (why) return { kind: 'rejected', why };
  const read = readEnvelope(raw, headers['x-svc-event'] ?? null);
  if ('why' in read) return { kind: 'unreadable', ...read };
  return { kind: seen(read.id) ? 'repeat' : 'accepted', envelope: read };
}

/** Why the signature does not hold; undefined where it does, for any of the secrets. */
export function refusal(
  signature: string | undefined,
  raw: Uint8Array,
  secrets: readonly string[],
): Refusal | undefined {
  if (!signature) return 'no-signature';
  if (signature.length !== 64) return 'wrong-length';
  if (!/^[0-9a-f]+$/u.test(signature)) return /^[0-9a-f]+$/iu.test(signature) ? 'upper-case' : 'not-hex';
  const given = Buffer.from(signature, 'hex');
  let holds = false;
  // Every secret is tried in full: how long it takes says neither which one matched nor how far a guess came.
  for (const secret of secrets) {
    if (timingSafeEqual(given, digest(secret, raw))) holds = true;
  }
  return holds ? undefined : 'no-match';
}

/** The envelope of a body; or why there is none, with the event that the header claims. */
export function readEnvelope(
  raw: Uint8Array,
  claimed: string | null,
): Envelope | { readonly why: string; readonly event: string | null } {
  let body: unknown;
  try {
    body = JSON.parse(utf8.decode(raw));
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
