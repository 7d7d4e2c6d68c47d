import type { HttpResponse } from '../http-port.ts';
import { brokenPage, type Fault } from './control/faults.ts';
import { generalLimit, type Verdict } from './limits.ts';

export type SandboxResponse = HttpResponse & {
  /**
   * A fault cuts the connection: `before` the request was processed, `after` it was, in both cases without an
   * answer; `half` sends the first half of the body only.
   */
  readonly cut?: 'before' | 'after' | 'half';
};

type Answer = {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** For answers that no limit was asked about. */
export const unlimited: Verdict = { limit: generalLimit, remaining: generalLimit };

/** Rate headers are on every response; the Date is the sandbox's own, as are all times in its bodies. */
export function respond({ status, body, headers }: Answer, { limit, remaining }: Verdict, now: Date): SandboxResponse {
  const always = {
    'content-type': 'application/json',
    date: httpDate(now),
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
  };
  return {
    status,
    headers: headers ? { ...always, ...headers } : always,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

/** The answer as a fault leaves it. */
export function spoil(response: SandboxResponse, fault: Fault | undefined): SandboxResponse {
  switch (fault?.action) {
    case 'drop-after':
      return { ...response, cut: 'after' };
    case 'truncate':
      return { ...response, cut: 'half' };
    case 'malformed':
      return { ...response, status: fault.status ?? response.status, body: `{"oops": ${response.body.slice(0, 20)}` };
    case 'html': {
      const headers = { ...response.headers, 'content-type': 'text/html; charset=utf-8' };
      return { status: fault.status ?? response.status, headers, body: brokenPage };
    }
    default:
      return response;
  }
}

let second = 0;
let date = '';

/** Written once a second, not once a request. */
function httpDate(now: Date): string {
  const current = Math.floor(now.getTime() / 1000);
  if (current !== second) {
    second = current;
    date = now.toUTCString();
  }
  return date;
}
