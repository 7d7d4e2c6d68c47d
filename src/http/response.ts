import * as v from 'valibot';
import { type Operation, type Scope, scopes } from '../api/operation.ts';
import type { HttpResponse } from '../context.ts';
import { Failure } from '../errors.ts';

/** The body as JSON; undefined where it is none (an HTML page, a cut answer, nothing at all). */
export function parseBody(body: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(body) };
  } catch {
    return undefined;
  }
}

/**
 * Fields of a successful answer that the table promises and that are missing or of another type, as dotted paths.
 * The answer is used all the same: fields are only ever added (Versioning, 2), so this is worth a warning, not a crash.
 */
export function surprises(operation: Operation, json: unknown): string[] {
  const result = v.safeParse(operation.response, json);
  if (result.success) return [];
  return [...new Set(result.issues.map((issue) => v.getDotPath(issue) ?? 'the answer'))];
}

/** `Retry-After` in milliseconds: seconds, or a date compared with the answer's own `Date`. */
export function retryAfterOf(headers: HttpResponse['headers']): number | undefined {
  const value = headers['retry-after'];
  if (value === undefined) return undefined;
  if (/^\d+(\.\d+)?$/u.test(value.trim())) return Number(value) * 1000;
  const at = Date.parse(value);
  const now = Date.parse(headers.date ?? '');
  if (Number.isNaN(at) || Number.isNaN(now)) return undefined;
  return Math.max(0, at - now);
}

const moduleNames = {
  support: 'Support',
  changelog: 'Changelog',
  feedback_board: 'Feedback board',
  roadmap: 'Roadmap',
} as const;

type Asked = Pick<Operation, 'id' | 'scope' | 'module' | 'credentials'>;

/** A status that is no success, as the Failure that the user sees (service-api.txt, Errors). */
export function failureOf(response: HttpResponse, asked?: Asked): Failure {
  const { status } = response;
  const said = readError(parseBody(response.body)?.json);
  if (status === 401) {
    return new Failure('auth', sentence(said.text, 'The service does not accept this credential'), {
      status,
      hint: 'It may be expired or revoked. Run: svc auth status, then svc login',
    });
  }
  if (status === 403) return forbidden(said, asked);
  if (status === 404) {
    return new Failure('not-found', sentence(said.text, 'The service has no such record'), {
      status,
      hint: 'Records of other accounts answer the same. Check the id, and the account with: svc whoami',
    });
  }
  if (status === 429) {
    return new Failure('rate-limited', sentence(said.text, 'The rate limit is reached'), { status });
  }
  if (status >= 500) {
    const fact = `The service failed with status ${status}`;
    return new Failure('failed', sentence(said.text && `${fact}: ${said.text}`, fact), { status });
  }
  if (status >= 300 && status < 400) {
    return new Failure(
      'failed',
      `The service redirects (status ${status}) to ${originOf(response.headers.location)}.`,
      {
        status,
        hint: 'svc does not follow it, so that nothing is sent twice or elsewhere. Check --base-url.',
      },
    );
  }
  return new Failure('rejected', sentence(said.text, `The service refused this with status ${status}`), {
    status,
    fields: said.fields,
  });
}

/** A success status whose body cannot be read. */
export const unreadable = (response: HttpResponse): Failure =>
  new Failure('failed', `The service answered ${response.status}, but not with JSON.`, {
    status: response.status,
    hint: looksLikeHtml(response.body)
      ? 'It is an HTML page: is --base-url the address of the API?'
      : 'The answer may have been cut off on its way.',
  });

function forbidden(said: Said, asked: Asked | undefined): Failure {
  const status = 403;
  if (said.code === 'insufficient_scope') {
    const named = scopes.filter((scope) => said.description?.includes(scope));
    const missing: Scope[] = named.length > 0 ? named : asked?.scope ? [asked.scope] : [];
    return new Failure('forbidden', `This login lacks the scope ${missing.join(' ') || 'that this needs'}.`, {
      status,
      hint: `Run: svc auth refresh${missing.map((scope) => ` --scope ${scope}`).join('')}`,
    });
  }
  if (asked?.credentials.length === 1 && asked.credentials[0] === 'oauth') {
    return new Failure('forbidden', sentence(said.text, 'The service refuses this credential here'), {
      status,
      hint: 'Webhook subscriptions need an OAuth login. Run: svc login',
    });
  }
  if (asked?.module) {
    return new Failure('forbidden', sentence(said.text, `The ${moduleNames[asked.module]} module is off`), {
      status,
      hint: `Switch on the ${moduleNames[asked.module]} module in the account, then run: svc doctor`,
    });
  }
  return new Failure('forbidden', sentence(said.text, 'The service does not allow this'), {
    status,
    hint: 'Run: svc auth status',
  });
}

type Said = {
  readonly code?: string;
  readonly description?: string;
  readonly text?: string;
  readonly fields?: Record<string, string[]>;
};

/** The three error shapes: `error` is read first, then `message`; `errors` by field (Errors). */
function readError(json: unknown): Said {
  if (typeof json !== 'object' || json === null) return {};
  const { error, error_description: description, message, errors } = json as Record<string, unknown>;
  const code = typeof error === 'string' ? error : undefined;
  return {
    code,
    description: typeof description === 'string' ? description : undefined,
    text: code ?? (typeof message === 'string' ? message : undefined),
    fields: fieldMessages(errors),
  };
}

function fieldMessages(errors: unknown): Record<string, string[]> | undefined {
  if (typeof errors !== 'object' || errors === null) return undefined;
  const fields = Object.entries(errors).map(([field, messages]): [string, string[]] => [
    field,
    (Array.isArray(messages) ? messages : [messages]).map(String),
  ]);
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}

const sentence = (said: string | undefined, otherwise: string): string => {
  const text = said?.trim() || otherwise;
  return /[.!?]$/u.test(text) ? text : `${text}.`;
};

const looksLikeHtml = (body: string): boolean => /^\s*<(?:!doctype|html|head|body)\b/iu.test(body);

const originOf = (location = ''): string => (URL.canParse(location) ? new URL(location).origin : 'another address');
