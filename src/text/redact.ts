import { orElse } from '../errors.ts';
import type { HttpRequest, HttpResponse } from '../http-port.ts';
import { parseUnrounded } from './exact-json.ts';
import { jsonIn } from './json.ts';
import { isDeeperThan } from './json-depth.ts';
import { isRecord } from './record.ts';

/** In place of a secret, wherever svc prints something. */
export const redacted = '[redacted]';

/** Names of fields and headers that hold one. */
export const secretName = /secret|password|token|authorization|cookie|api.?key|(?:^|_)key$/iu;

/** What a shorter one would hide could be any word. */
const shortest = 8;

/** Far more than an error of any service. */
const deepest = 200;

/** Some services and proxies repeat in an error what they were sent: the answer without the secrets of its own request. */
export function withoutSentSecrets(request: HttpRequest, answer: HttpResponse): HttpResponse {
  if (answer.status < 300) return answer;
  const ofHeaders = secretsInHeaders(request).flatMap(formsOf);
  const forms = [...ofHeaders, ...secretsInBody(request).flatMap(formsOf)];
  if (forms.length === 0) return answer;
  const hide = hiding(forms);
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, hide(value)]);
  const body = hideInBody(answer.body, { hide, hideName: hiding(ofHeaders) });
  return { ...answer, headers: Object.fromEntries(headers), body };
}

function hiding(forms: readonly string[]) {
  // A secret may hold another one.
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  return (text: string) => longestFirst.reduce((left, form) => left.replaceAll(form, redacted), text);
}

/** Names of fields are the service's own, and whoever takes a refused row out goes by them: only a credential is none. */
type Hide = { readonly hide: (text: string) => string; readonly hideName: (text: string) => string };

/** JSON is read first: its strings may have any letter escaped. What holds no secret stays as it was written. */
function hideInBody(body: string, hides: Hide): string {
  const json = orElse(() => parseUnrounded(body), undefined);
  if (json === undefined || isDeeperThan(deepest, json)) return hides.hide(body);
  const hidden = JSON.stringify(hideIn(json, hides));
  return hidden === JSON.stringify(json) ? body : hidden;
}

function hideIn(value: unknown, hides: Hide): unknown {
  if (typeof value === 'string') return hides.hide(value);
  if (Array.isArray(value)) return value.map((one) => hideIn(one, hides));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [hides.hideName(name), hideIn(held, hides)]));
}

/** Also percent-encoded, as a form is, and as PHP writes it in JSON that stands in a text. */
function formsOf(secret: string): string[] {
  if (secret.length < shortest) return [];
  const percent = encodeURIComponent(secret);
  const form = new URLSearchParams([['', secret]]).toString().slice(1);
  const inLowerCase = (text: string) => text.replaceAll(/%[\dA-F]{2}/gu, (byte) => byte.toLowerCase());
  const json = JSON.stringify(secret).slice(1, -1);
  const forms = [secret, percent, inLowerCase(percent), form, inLowerCase(form), json, json.replaceAll('/', '\\/')];
  return [...new Set(forms)];
}

const secretsInHeaders = ({ headers }: HttpRequest): string[] =>
  Object.entries(headers)
    .filter(([name]) => secretName.test(name))
    .flatMap(([name, value]) => (name === 'authorization' ? credentialsIn(value) : [value]));

function secretsInBody({ headers, body }: HttpRequest): string[] {
  if (typeof body !== 'string') return [];
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  return isForm ? secretsInForm(body) : secretsInJson(jsonIn(body));
}

/** `Bearer TOKEN`, or `Basic` and NAME:PASSWORD in base64. */
function credentialsIn(value: string): string[] {
  const [, scheme = '', credential = ''] = /^(\S+)\s+(.*)$/su.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [credential || value];
  return [
    credential,
    Buffer.from(credential, 'base64')
      .toString()
      .replace(/^[^:]*:/u, ''),
  ];
}

/** The fields of RFC 6749 that are none: any other may be one. */
const open = new Set(['grant_type', 'response_type', 'client_id', 'redirect_uri', 'scope', 'token_type_hint']);

const secretsInForm = (body: string): string[] =>
  [...new URLSearchParams(body)].filter(([name]) => !open.has(name)).map(([, value]) => value);

/** Own data of a contact is none of svc's secrets, whatever its fields are called. */
function secretsInJson(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(secretsInJson);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, held]) => {
    if (typeof held === 'string' && secretName.test(name)) return [held];
    return name === 'metadata' ? [] : secretsInJson(held);
  });
}
