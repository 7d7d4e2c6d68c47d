import type { HttpRequest, HttpResponse, Lost } from '../../src/context.ts';
import type { SandboxWorld } from '../sandbox-world.ts';
import type { World } from '../svc.ts';

const html = '<!doctype html><title>Gateway</title>';
const cut = (reason: Lost['reason']): Lost => ({ lost: 'after-sending', reason, detail: 'The connection broke.' });
const says = (status: number, body: string, headers = {}): HttpResponse => ({ status, headers, body });

/** Every way in which the answer to a request that has left can fail to be the service's own. */
export const unsettledEndings: Readonly<Record<string, HttpResponse | Lost>> = {
  'a time-out': { lost: 'after-sending', reason: 'timeout', detail: 'No answer within 1 s.' },
  'a cut connection': cut('reset'),
  'TLS that breaks after the handshake': cut('tls'),
  'a 502 of a gateway': says(502, html, { 'content-type': 'text/html' }),
  'a 503 in the shape of the service': says(503, '{"error":"Server error"}'),
  'a 504 without a body': says(504, ''),
  'a 500 of Spring': says(500, '{"timestamp":"2026-01-01T00:00:00Z","status":500,"error":"Internal Server Error"}'),
  'a 505 in the shape of the service': says(505, '{"error":"HTTP version not supported"}'),
  'a 520 in the shape of the service': says(520, '{"error":"Web server returned an unknown error"}'),
  'a 524 in the shape of the service': says(524, '{"error":"A timeout occurred"}'),
  'a 529 in the shape of the service': says(529, '{"error":"Overloaded"}'),
  'a 599 in the shape of the service': says(599, '{"error":"Network connect timeout"}'),
  'a 408 in the shape of the service': says(408, '{"error":"Request timeout"}'),
  'a 499 in the shape of the service': says(499, '{"message":"Client closed request"}'),
  'a 200 with the error of a gateway': says(200, '{"error":"upstream timeout"}'),
  'a 200 that is up': says(200, '{"status":"up"}'),
  'a 202 that is queued': says(202, '{"status":"queued","id":7}'),
  'a 500 in another shape': says(500, '{"message":"Internal server error"}'),
  'a 200 that is a web page': says(200, html, { 'content-type': 'text/html' }),
  'a 201 that is cut JSON': says(201, '{"ticket":{"id":'),
  'a 429 that is a web page': says(429, html, { 'content-type': 'text/html', 'retry-after': '1' }),
  'a 401 that is a web page': says(401, html, { 'content-type': 'text/html' }),
  'a 429 in another shape': says(429, '{"code":1015}', { 'retry-after': '1' }),
  'a 404 of another server': says(404, html, { 'content-type': 'text/html' }),
  'a redirect with an error in the shape of the service': says(307, '{"error":"Moved"}', { location: '/v2/tickets' }),
  'a redirect': says(308, '', { location: 'https://elsewhere.test/prefix/tickets' }),
};

export const ownFailure = says(500, '{"error":"Server error"}');

type Plan = {
  readonly isMeant: (request: HttpRequest) => boolean;
  readonly ending: HttpResponse | Lost;
  /** When the service acts on it after svc gave up on it; never where undefined. */
  readonly afterMs?: number;
  readonly times?: number;
};

export type LateWorld = World & {
  /** How many requests that are meant have left svc. */
  readonly left: () => number;
  /** Lets everything arrive that is still on its way. */
  settle(): Promise<void>;
};

/** The sandbox behind a network that answers otherwise, and delivers later, at a time of the virtual clock. */
export function lateWorld(world: SandboxWorld, { isMeant, ending, afterMs, times = 1 }: Plan): LateWorld {
  let left = 0;
  let onTheWay: { readonly at: number; readonly request: HttpRequest }[] = [];
  const deliver = async (until: number) => {
    const due = onTheWay.filter(({ at }) => at <= until);
    onTheWay = onTheWay.filter(({ at }) => at > until);
    for (const { request } of due) await world.exchange({ ...request, signal: undefined });
  };
  return {
    ...world,
    async exchange(request) {
      await deliver(world.clock.ticks());
      if (!isMeant(request) || ++left > times) return world.exchange(request);
      if (afterMs !== undefined) onTheWay.push({ at: world.clock.ticks() + afterMs, request });
      return ending;
    },
    left: () => left,
    settle: () => deliver(Number.POSITIVE_INFINITY),
  };
}
