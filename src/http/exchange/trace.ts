import { operationList } from '../../api/index.ts';
import { fieldsOf, type Shape } from '../../api/shape.ts';
import type { Context, Exchange, HttpRequest, HttpResponse, Lost } from '../../context.ts';
import { parseJson } from '../../text/json.ts';
import { redacted, secretName, withoutSentSecrets } from '../../text/redact.ts';

/** Told of every exchange. */
export type Trace = (
  request: HttpRequest,
  answer: HttpResponse | Lost,
  about: { readonly attempt: number; readonly tookMs: number },
) => void;

const shownBytes = 2000;

/**
 * What --debug prints of an exchange. Redaction works by an allow-list: only headers and fields that are known to hold
 * no secret show their value, so a field that the service adds tomorrow stays hidden.
 */
export function traceTo(write: (line: string) => void): Trace {
  return (request, answer, { attempt, tookMs }) => {
    write(`> ${request.method} ${safeUrl(request.url)}${attempt > 1 ? ` (attempt ${attempt})` : ''}`);
    for (const line of headerLines(request.headers)) write(`> ${line}`);
    if (typeof request.body === 'string') write(`> ${safeBody(request.body)}`);
    if ('lost' in answer) {
      write(`< no answer after ${tookMs} ms: ${answer.reason} (${answer.lost})`);
      return;
    }
    write(`< ${answer.status} in ${tookMs} ms`);
    const { headers, body } = withoutSentSecrets(request, answer);
    for (const line of headerLines(headers)) write(`< ${line}`);
    if (body) write(`< ${safeBody(body)}`);
  };
}

export function tracedExchange({ exchange, clock, notice }: Pick<Context, 'exchange' | 'clock' | 'notice'>): Exchange {
  const trace = traceTo(notice);
  return async (request) => {
    const began = clock.ticks();
    const answer = await exchange(request);
    trace(request, answer, { attempt: 1, tookMs: Math.round(clock.ticks() - began) });
    return answer;
  };
}

const shownHeaders = new Set([
  'accept',
  'content-type',
  'content-length',
  'content-encoding',
  'date',
  'retry-after',
  'user-agent',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
]);

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${shownHeaders.has(name) ? value : redacted}`);
}

function safeUrl(url: string): string {
  const { origin, pathname, searchParams } = new URL(url);
  const query = [...searchParams]
    .map(([key, value]) => `${key}=${knownFields().has(key) ? value : redacted}`)
    .join('&');
  return origin + pathname + (query && `?${query}`);
}

/** A JSON body with the values of unknown fields hidden; anything else is named by its size alone. */
export function safeBody(body: string, fields: ReadonlySet<string> = knownFields()): string {
  let shown: string;
  try {
    shown = JSON.stringify(safeValue(parseJson(body), fields, 'unknown'));
  } catch {
    return `[${Buffer.byteLength(body)} bytes that are no JSON]`;
  }
  return shown.length > shownBytes ? `${shown.slice(0, shownBytes)}… [${shown.length} characters]` : shown;
}

/** `known`: the field that holds it may be shown. That goes for the items of its list, too, and for nothing deeper. */
function safeValue(value: unknown, fields: ReadonlySet<string>, holder: 'known' | 'unknown'): unknown {
  if (Array.isArray(value)) return value.map((item) => safeValue(item, fields, holder));
  if (typeof value === 'object' && value !== null) {
    const holderOf = (key: string) => (fields.has(key) && !secretName.test(key) ? 'known' : 'unknown');
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, safeValue(each, fields, holderOf(key))]),
    );
  }
  if (holder === 'unknown') return redacted;
  return typeof value === 'string' ? withoutUrlSecrets(value) : value;
}

/** URLs in a text without what is in front of their host, and without the values of their query and fragment. */
function withoutUrlSecrets(text: string): string {
  return text.replace(/(\/\/)([^\s/?#]*@)?([^\s?#]*)(\?[^\s#]*)?(#\S*)?/gu, (_, ...parts: string[]) => {
    const [slashes, user, rest, query, fragment] = parts;
    return [slashes, user && `${redacted}@`, rest, query && safeQuery(query), fragment && `#${redacted}`]
      .filter(Boolean)
      .join('');
  });
}

const safeQuery = (query: string): string =>
  `?${query
    .slice(1)
    .split('&')
    .map((pair) => (pair.includes('=') ? `${pair.slice(0, pair.indexOf('='))}=${redacted}` : redacted))
    .join('&')}`;

let known: Set<string> | undefined;

function knownFields(): Set<string> {
  if (known) return known;
  known = new Set(['error', 'error_description', 'message', 'errors', 'status']);
  for (const { response, query, body } of operationList) {
    for (const schema of [response, query, body]) collect(fieldsOf(schema), known);
  }
  return known;
}

function collect(fields: Readonly<Record<string, Shape>>, into: Set<string>): void {
  for (const [name, shape] of Object.entries(fields)) {
    into.add(name);
    if (shape.fields) collect(shape.fields, into);
    if (shape.item?.fields) collect(shape.item.fields, into);
  }
}
