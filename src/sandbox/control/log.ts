import { jsonIn } from '../../text/json.ts';

export type LogEntry = {
  /** Milliseconds since 1970, by the sandbox's clock. */
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Null where a fault kept the answer back before there was one. */
  readonly status: number | null;
  readonly credential: string | null;
  readonly body: string;
  readonly fault?: string;
};

const mostEntries = 10_000;
const mostCharacters = 32 * 1024 * 1024;

/**
 * The last requests, bounded in number and in bytes, so that a log never slows or fills a long run. `onRequest` is told of
 * each in one line.
 */
export function createLog(onRequest?: (line: string) => void) {
  let kept: LogEntry[] = [];
  let dropped = 0;
  let characters = 0;
  return {
    add(entry: LogEntry): void {
      onRequest?.(lineOf(entry));
      kept.push(entry);
      characters += lengthOf(entry);
      while (kept.length - dropped > mostEntries || (characters > mostCharacters && kept.length - dropped > 1)) {
        const last = kept[dropped++];
        if (last) characters -= lengthOf(last);
      }
      // Shifting one by one would move the whole list each time.
      if (dropped > kept.length / 2) {
        kept = kept.slice(dropped);
        dropped = 0;
      }
    },
    entries: () => kept.slice(dropped).map(shown),
    clear(): void {
      kept = [];
      dropped = 0;
      characters = 0;
    },
  };
}

const lengthOf = ({ path, query, body }: LogEntry): number => path.length + query.length + body.length;

/** `12:04:33  GET /contacts?page=2  200  api_key`, by the sandbox's clock. */
function lineOf({ at, method, path, query, status, credential, fault }: LogEntry): string {
  const time = new Date(at).toISOString().slice(11, 19);
  const url = `${path}${query === '' ? '' : `?${redactForm(query)}`}`;
  const ending = [status ?? 'no answer', credential ?? 'no credential', fault && `fault: ${fault}`].filter(Boolean);
  return [time, `${method} ${url}`, ...ending].join('  ');
}

/** Redacted when someone looks, not with every request. */
function shown({ at, body, query, fault, ...entry }: LogEntry): object {
  return {
    at: new Date(at).toISOString(),
    ...entry,
    query: redactForm(query),
    body: body === '' ? null : redactBody(body),
    ...(fault ? { fault } : {}),
  };
}

const redacted = '[redacted]';
const secretName = /secret|token|password|api_?key|authorization|^code$|code_verifier/iu;
const secretText =
  /\b(?:key_acme|key_globex|m2m_sandbox|sandbox_secret|(?:svc_(?:at|rt|ac)|whsec|(?:key|m2m|secret)_mirror)_[\w-]+)/gu;

function redactBody(body: string): unknown {
  const json = jsonIn(body);
  if (json !== undefined) return redactValue(json);
  return isForm(body) ? redactForm(body) : body.replaceAll(secretText, redacted);
}

/** By the first name alone: a body may hold megabytes, too many for a pattern to step back through. */
function isForm(body: string): boolean {
  const end = body.slice(0, 200).indexOf('=');
  return end > 0 && /^[\w.~%+-]+$/u.test(body.slice(0, end));
}

function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(secretText, redacted);
  if (Array.isArray(value)) return value.map(redactValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => [
      name,
      typeof held === 'string' && secretName.test(name) ? redacted : redactValue(held),
    ]),
  );
}

function redactForm(form: string): string {
  return form
    .split('&')
    .map((pair) => {
      const name = pair.split('=', 1)[0] ?? '';
      return secretName.test(name) ? `${name}=${redacted}` : pair.replaceAll(secretText, redacted);
    })
    .join('&');
}
