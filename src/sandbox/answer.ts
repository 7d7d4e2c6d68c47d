import type { FieldErrors } from '../api/check.ts';

/** What the service says no with: a status and one of three shapes (service.md#errors-2). */
export type Refusal = {
  readonly refused: 401 | 403 | 404 | 405 | 422 | 429;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
};

const simple = (refused: Refusal['refused'], error: string): Refusal => ({ refused, body: { error } });

export const unauthenticated = simple(401, 'The token is missing, malformed, expired or revoked.');

/** Of a sandbox that holds a copy of a real account. */
export const unknownKey = simple(
  401,
  'This sandbox holds a copy of an account, so its keys are random: it printed them when it started.',
);

/** Of a control call to a sandbox that holds a copy of a real account. */
export const needsKey = simple(
  401,
  'This sandbox holds a copy of an account: its control calls need its API key, which it printed when it started.',
);

/** The same for a record that never was and for another account's, so that ids do not leak (service.md#account-2). */
export const notFound = simple(404, 'No such record in this account.');

export const noSuchPath = simple(404, 'No such endpoint.');

export const forbidden = (error: string): Refusal => simple(403, error);

export const wrongMethod = (allowed: readonly string[]): Refusal => ({
  ...simple(405, `This endpoint answers ${allowed.join(', ')}.`),
  headers: { allow: allowed.join(', ') },
});

export const tooManyRequests = (retryAfter: number): Refusal => ({
  ...simple(429, `Too many requests. Try again in ${retryAfter} s.`),
  headers: { 'retry-after': String(retryAfter) },
});

export const insufficientScope = (scope: string): Refusal => ({
  refused: 403,
  body: { error: 'insufficient_scope', error_description: `This token lacks the scope ${scope}.` },
});

export const invalid = (errors: FieldErrors): Refusal => {
  const [field, messages] = Object.entries(errors)[0] ?? ['', ['is not valid']];
  const more = Object.keys(errors).length - 1;
  const message = `${field ? `${field} ` : 'The request '}${messages[0]}`;
  return {
    refused: 422,
    body: { message: more > 0 ? `${message} (and ${more} more)` : message, errors },
  };
};

/** Of a message that reaches nobody; no field is wrong. */
export const notSent = (message: string): Refusal => ({ refused: 422, body: { message, errors: {} } });

/** As it goes out. */
export const answerOf = ({ refused, body, headers }: Refusal) => ({ status: refused, body, headers });

export const isRefusal = (result: object): result is Refusal => 'refused' in result;
