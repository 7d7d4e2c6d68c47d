import type { HttpResponse } from '../../http-port.ts';

/** As the sandbox's app hands a request on. Header names are in lower case. */
export type OAuthRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
};

export type OAuthAnswer = HttpResponse;

/** The longest form that any OAuth request needs is a few KB. */
const longestForm = 64 * 1024;

export type Form = { readonly ok: true; readonly form: URLSearchParams } | ({ readonly ok: false } & Problem);
type Problem = { readonly status: 400 | 413; readonly problem: string };

export function readForm({ headers, body }: OAuthRequest): Form {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') {
    return { ok: false, status: 400, problem: 'The request must be sent as application/x-www-form-urlencoded.' };
  }
  if (body.length > longestForm) {
    return { ok: false, status: 413, problem: `The request may have at most ${longestForm} bytes.` };
  }
  return { ok: true, form: new URLSearchParams(new TextDecoder().decode(body)) };
}

export type Parameters = ReturnType<typeof parametersOf>;

/** A parameter without a value counts as one that was left out (RFC 6749, 3.1 and 3.2). */
export function parametersOf(form: URLSearchParams) {
  const names = [...form.keys()];
  return {
    get: (name: string) => form.get(name) || undefined,
    /** Names that came more than once; no request may repeat one (RFC 6749, 3.1 and 3.2). */
    repeated: [...new Set(names.filter((name, at) => names.indexOf(name) !== at))],
  };
}
