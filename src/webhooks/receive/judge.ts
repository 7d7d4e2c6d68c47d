import { timingSafeEqual } from 'node:crypto';
import { digest } from '../../api/signature.ts';
import { type Envelope, type Headers, readEnvelope } from '../event/envelope.ts';

export type Refusal = 'no-signature' | 'wrong-length' | 'not-hex' | 'no-match' | 'other-account';

/** In words, for a line and for `verify`. */
export const refusals: Readonly<Record<Refusal, string>> = {
  'no-signature': 'it has no X-SVC-Signature',
  'wrong-length': 'the signature is not 64 characters long',
  'not-hex': 'the signature is not hexadecimal',
  'no-match': 'signed with another secret, or the body was changed on the way',
  'other-account': 'it is of another account than this login',
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
  if (!/^[0-9a-f]+$/iu.test(signature)) return 'not-hex';
  const given = Buffer.from(signature, 'hex');
  let holds = false;
  // Every secret is tried in full: how long it takes says neither which one matched nor how far a guess came.
  for (const secret of secrets) {
    if (timingSafeEqual(given, digest(secret, raw))) holds = true;
  }
  return holds ? undefined : 'no-match';
}
