import type { Exchange, HttpRequest } from '../../src/context.ts';
import { createWorld, type RunOptions, svc } from '../svc.ts';
import { at } from './samples.ts';

export type Line = {
  /** As typed after `svc`; quotes as a shell reads them. */
  readonly type: string;
  readonly stdin?: string;
  /** What is read first, so that a lost answer could be told from an older record that agrees. */
  readonly looks?: string;
  /** Every other request, in order: method, path with query, body. Page 1 of 50 may be left unsaid. */
  readonly sends: readonly (readonly [request: string, body?: unknown])[];
  /** The answers to them. */
  readonly answers: readonly unknown[];
  /** What `--json` prints; left out where it is the answer itself. */
  readonly prints?: unknown;
};

export const base = 'https://api.example.com/prefix';
const env = {
  SVC_BASE_URL: base,
  SVC_API_KEY: 'key_acme',
  SVC_ACCESS_TOKEN: 'oauth_token',
  SVC_M2M_TOKEN: 'm2m_token',
};

/** As a shell would split it. */
export const words = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/gu)].map(([, quoted, plain]) => quoted ?? plain ?? '');

export function serviceOf(answer: (request: HttpRequest) => { status: number; body: unknown }) {
  const sent: HttpRequest[] = [];
  const exchange: Exchange = async (request) => {
    sent.push(request);
    const { status, body } = answer(request);
    const date = new Date(at).toUTCString();
    return { status, headers: { 'content-type': 'application/json', date }, body: JSON.stringify(body) };
  };
  return {
    sent,
    run: (argv: string[], options: RunOptions = {}) => svc(createWorld(exchange, { env }), argv, options),
  };
}

export const seen = ({ method, url, body }: HttpRequest) => {
  const { pathname, searchParams } = new URL(url);
  if (searchParams.get('page') === '1') searchParams.delete('page');
  if (searchParams.get('per_page') === '50') searchParams.delete('per_page');
  const query = searchParams.toString();
  const request = `${method} ${pathname.replace('/prefix', '')}${query && `?${query}`}`;
  return body === undefined ? [request] : [request, JSON.parse(String(body))];
};
