import { hearersOf } from '../../api/hearers.ts';
import { operationList } from '../../api/index.ts';
import { comingFrom } from '../../audit/origin.ts';
import { defineCommand } from '../../command/command.ts';
import { inCapitals, param } from '../../command/param.ts';
import type { Context, HttpResponse } from '../../context.ts';
import { readUserText } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';
import { connect, isLookedFor, preparedLook, type Service, withHint } from '../../http/call/call.ts';
import { readDenialIn } from '../../http/exchange/promised.ts';
import { askedOf, fieldsFrom, type Known, methods, operationAt, relativePath } from '../../http/exchange/raw.ts';
import type { Wire } from '../../http/exchange/request.ts';
import type { Sent } from '../../http/exchange/writes.ts';
import { send } from '../../http/send/send.ts';
import type { View } from '../../output/view.ts';
import { readBody } from '../../retry/own-word.ts';
import { jsonIn } from '../../text/json.ts';
import { keyTwice, twiceIn } from '../../text/json-keys.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import { shellWord } from '../../text/shell-word.ts';
import { headersFrom, refuseOtherMethod } from './disguised.ts';
import { type Whole, wholeOf } from './paginate.ts';
import { adviceOnPath, refuseNoPath } from './path-words.ts';

export const api = defineCommand({
  name: 'api',
  summary: 'Send any request with your credential',
  details:
    'PATH is relative to the base URL. With fields and no -X the method is POST; with GET the fields become the query.\n' +
    'A known operation is retried by its own rules; any other request only if it is a read.\n' +
    'A header, a query or a field that names another method or path to the server is refused: give the method with -X.\n' +
    'With --include, control characters in a header are made visible, also in a pipe; the body stays as it came.',
  args: { path: param.requiredText('Path like /contacts, or ls for every operation', { placeholder: 'PATH' }) },
  flags: {
    method: inCapitals(param.choice('The method', methods, { short: 'X', placeholder: 'METHOD' })),
    rawField: param.texts('A text field of the body', { placeholder: 'KEY=TEXT', short: 'f' }),
    field: param.texts('A field whose type is read from its value; @FILE is the text of a file, @- standard input', {
      placeholder: 'KEY=VALUE',
      short: 'F',
    }),
    header: param.texts('A further header', { placeholder: 'KEY: VALUE', short: 'H' }),
    input: param.file('The body, from a file; - is standard input', { conflicts: ['rawField', 'field'] }),
    paginate: param.toggle('Read every page and print one document'),
    include: param.toggle('Print the status and the headers too', { short: 'i' }),
  },
  examples: [
    'svc api /contacts',
    "svc api /contacts --paginate --jq '.contacts[].email'",
    "svc api /tickets -f subject='From the API' -F priority=2",
    'svc api ls',
  ],
  writes: true,
  sends: true,
  onlyReads,
  async run(ctx, { args, flags, settings }): Promise<View> {
    if (args.path === 'ls') return apiLs();
    refuseNoPath(args.path);
    const fields = fieldsFrom(flags.rawField, flags.field, await filesIn(ctx, flags.field));
    const hasFields = Object.keys(fields).length > 0;
    const method = flags.method ?? (hasFields || flags.input !== undefined ? 'POST' : 'GET');
    if (flags.paginate && method !== 'GET') throw new Failure('usage', '--paginate works with GET only.');
    const text = flags.input === undefined ? undefined : await readUserText(ctx, flags.input, '--input');
    if (text !== undefined) refuseKeyTwice(text);
    const service = await connect(comingFrom(ctx, { face: 'api' }), settings);
    const typed = relativePath(args.path, service.session.baseUrl);
    const path = method === 'GET' && hasFields ? withQuery(typed, fields) : typed;
    const body = text ?? (method !== 'GET' && hasFields ? JSON.stringify(fields) : undefined);
    const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headersFrom(flags.header) };
    const wire: Wire = { method, path, headers, body };
    refuseOtherMethod(wire);
    const known = operationAt(method, path.replace(/\?.*$/u, ''));
    if (ctx.sends?.isDraft && method !== 'GET') refuseNoSend(known);
    const sent = await sendRaw(service, wire, known).catch((failure: unknown) => answerIn(failure, wire));
    const head = flags.include ? headOf(sent) : undefined;
    // A filter or a choice of fields is meant for a success.
    const isFiltered = settings.jq !== undefined || settings.fields !== undefined;
    if (sent.how === 'refused') {
      const body = isFiltered ? { data: { shape: 'nothing' } as const } : shown(sent.answer);
      return { ...body, head, failure: sent.failure };
    }
    // Of many pages the first one's head.
    const first = jsonOf(ctx, sent);
    const denial = method === 'GET' ? readDenialIn(fieldsIn(first)) : undefined;
    if (denial !== undefined) {
      const data = isFiltered ? ({ shape: 'nothing' } as const) : ({ shape: 'record', record: first } as const);
      return { data, output: 'json', head, failure: denied(denial) };
    }
    const next = async (page: number) => {
      const json = jsonOf(ctx, await sendRaw(service, { ...wire, path: withQuery(wire.path, { page }) }, known));
      const denialOfPage = readDenialIn(fieldsIn(json));
      if (denialOfPage !== undefined) throw denied(denialOfPage);
      return json;
    };
    const asked = { path: wire.path, operation: known?.operation, next };
    const { record, failure }: Whole = flags.paginate ? await wholeOf(first, asked) : { record: first };
    return { data: { shape: 'record', record }, read: method === 'GET', output: 'json', head, failure };
  },
});

/** The texts of the files that fields name with `@`, by path: standard input can be read only once. */
async function filesIn(ctx: Context, fields: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const field of fields) {
    const [, path] = /^[^=]+=@(.+)$/su.exec(field) ?? [];
    if (path === undefined || texts.has(path)) continue;
    const text = await readUserText(ctx, path, `-F ${field}`).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.kind !== 'usage') throw error;
      const hint = error.hint ?? `To send it as it is written: -f ${shellWord(field)}`;
      throw new Failure('usage', error.message, { hint });
    });
    texts.set(path, text);
  }
  return texts;
}

/** It goes out as it was written, and the service may take the other of the two than was shown and judged. */
function refuseKeyTwice(body: string): void {
  const key = jsonIn(body) === undefined ? undefined : keyTwice(body);
  if (key === undefined) return;
  throw new Failure('usage', `--input: the body ${twiceIn(key)}.`, { hint: 'Leave one out. Nothing was sent.' });
}

/** In doubt it may write: a short flag among others may be one of a method or of a body. */
function onlyReads(words: readonly string[]): boolean {
  const typed = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  const named = typed.flatMap((word, at) => {
    if (word === '-X' || word === '--method') return [typed[at + 1] ?? ''];
    return /^(?:-X|--method=)(.+)$/u.exec(word)?.[1] ?? [];
  });
  if (named.some((method) => method.toUpperCase() !== 'GET')) return false;
  const mayWrite = named.length > 0 ? /^-[^-X].*X/u : /^-[^-]*[fFX]|^--(?:raw-field|field|input)(?:=|$)/u;
  return !typed.some((word) => mayWrite.test(word));
}

/** With --draft nothing leaves, so what cannot become a draft does not leave either. */
function refuseNoSend(known: Known | undefined): void {
  if (known && hearersOf(known.operation)) return;
  const why = known
    ? 'This reaches no customer, so it cannot wait as a draft.'
    : 'svc does not know whom this reaches.';
  throw new Failure('usage', `${why} Nothing was sent.`, { hint: 'To send it now, leave out --draft.' });
}

/** An error of the service, with what it answered. */
type Refused = { readonly how: 'refused'; readonly answer: HttpResponse; readonly failure: Failure };

function answerIn(failure: unknown, { method, path }: Wire): Refused {
  if (!(failure instanceof Failure && failure.answer)) throw failure;
  const { answer, kind, message, status, fields } = failure;
  const hint = kind === 'not-found' ? adviceOnPath(method, path) : undefined;
  const told =
    hint === undefined ? failure : new Failure(kind, message, { hint, status, fields, answer, cause: failure });
  return { how: 'refused', answer, failure: told };
}

const denied = (denial: string): Failure => new Failure('failed', `The answer is no success: it holds ${denial}.`);

/** The body of an error: JSON as JSON, anything else as it is. */
function shown({ body }: HttpResponse): Pick<View, 'data' | 'output' | 'read'> {
  const read = readBody(body);
  if (read.form === 'json') return { data: { shape: 'record', record: read.json }, output: 'json', read: true };
  return { data: body === '' ? { shape: 'nothing' } : { shape: 'text', text: body } };
}

/** A write is done by its status, whatever the body; of a read the body is all there is. */
function jsonOf(ctx: Context, sent: Sent): unknown {
  if (sent.how !== 'answered') return sent.how === 'found' ? sent.json : {};
  if (sent.body.form === 'json') return sent.body.json;
  ctx.notice('Warning: the answer is JSON that is nested too deep to be shown.');
  return {};
}

/** What `svc api` sends, by the rules of the operation that it is. */
export async function sendRaw(service: Service, wire: Wire, known: Known | undefined): Promise<Sent> {
  const prepared = known && isLookedFor(service, known.operation) ? await lookBy(service, wire, known) : undefined;
  const asked = known && withHint(known.operation, { params: known.params, body: objectIn(wire.body) }, prepared);
  return send(service, asked ?? askedOf(wire.method, known), wire, prepared);
}

function objectIn(body: string | undefined): object | undefined {
  const read = readBody(body ?? '');
  return read.form === 'json' && typeof read.json === 'object' ? (read.json ?? undefined) : undefined;
}

/** A body that is no JSON object cannot be looked up; the service will refuse it anyway. */
async function lookBy(service: Service, { body }: Wire, { operation, params }: Known) {
  const parsed = jsonIn(body ?? '');
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  return preparedLook(service, operation, { params, body: parsed });
}

/** A name that stands there several times stays so; one that is among the fields has its value from there alone. */
function withQuery(path: string, fields: Fields): string {
  const at = path.includes('?') ? path.indexOf('?') : path.length;
  const query = new URLSearchParams(path.slice(at + 1));
  for (const [name, value] of Object.entries(fields)) {
    query.delete(name);
    if (value !== undefined && value !== null) query.set(name, String(value));
  }
  return path.slice(0, at) + (query.size > 0 ? `?${query}` : '');
}

function headOf(sent: Sent | Refused): string | undefined {
  if (sent.how !== 'answered' && sent.how !== 'refused') return undefined;
  const { status, headers } = sent.how === 'answered' ? sent.response : sent.answer;
  return `HTTP ${status}\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')}\n`;
}

/** Every operation, from the table itself. */
function apiLs(): View {
  const records = operationList.map(({ id, method, path, scope, credentials, safety, summary, command }) => ({
    operation: id,
    method,
    path,
    scope,
    command: command.join(' '),
    credentials,
    safety,
    summary,
  }));
  return { data: { shape: 'list', records, columns: lsColumns }, read: true };
}

/** A path is typed or copied: half of one is none. */
const lsColumns = [
  { path: 'method', header: 'Method', as: 'whole', rank: 2 },
  { path: 'path', header: 'Path', as: 'id', rank: 1 },
  { path: 'scope', header: 'Scope', rank: 4 },
  { path: 'command', header: 'Command', rank: 3 },
] as const;
