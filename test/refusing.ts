// A service before which a refusal can stand, and behind which requests that write are counted.
import type { HttpRequest, HttpResponse, Lost } from '../src/context.ts';
import type { SandboxWorld } from './sandbox-world.ts';
import type { World } from './svc.ts';

const says = (status: number, body: unknown, headers = {}): HttpResponse => ({
  ...{ status, body: JSON.stringify(body) },
  headers: { 'content-type': 'application/json', ...headers },
});

const gateway: HttpResponse = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Gateway</html>' };

/** How the service, or what stands before it, surely does nothing of a request. */
export const refusals: Readonly<Record<string, HttpResponse | Lost>> = {
  'HTTP 422': says(422, { message: 'No.', errors: { body: ['is bad'] } }),
  'HTTP 404': says(404, { error: 'Not found' }),
  'HTTP 403': says(403, { error: 'insufficient_scope', error_description: 'It may not.' }),
  'HTTP 401': says(401, { error: 'Unauthenticated' }),
  'HTTP 429': says(429, { error: 'Too many' }, { 'retry-after': '600', 'x-ratelimit-limit': '60' }),
  'a closed port': { lost: 'before-sending', reason: 'refused', detail: 'Nothing listens there.' },
};

type Fault = (request: HttpRequest) => Promise<HttpResponse | Lost> | HttpResponse | Lost | undefined;

export function refusing(world: SandboxWorld, path: RegExp) {
  const held: HttpRequest[] = [];
  const arrived: string[] = [];
  let fault: Fault = () => undefined;
  const arrive = (request: HttpRequest) => {
    arrived.push(`${request.method} ${request.url} ${request.body}`);
    return world.exchange({ ...request, signal: undefined });
  };
  const exchange: World['exchange'] = async (request) => {
    if (request.method === 'GET' || !path.test(request.url)) return world.exchange(request);
    return (await fault(request)) ?? arrive(request);
  };
  return {
    /** Between svc and the service. */
    world: { ...world, exchange },
    /** From now on each request that writes meets it; undefined lets it through. */
    meets(next: Fault) {
      fault = next;
    },
    /** It is written, and the answer is a gateway's. */
    async lost(request: HttpRequest): Promise<HttpResponse> {
      await arrive(request);
      return gateway;
    },
    /** The same, and it is written only when it is let go. */
    late(request: HttpRequest): HttpResponse {
      held.push(request);
      return gateway;
    },
    /** Behind what the service's limit has asked for. */
    async letGo() {
      world.clock.advance(3_600_000);
      for (const request of held.splice(0)) await arrive(request);
    },
    /** How often each request has come to the service. */
    times(): number[] {
      const counts = new Map<string, number>();
      for (const one of arrived) counts.set(one, (counts.get(one) ?? 0) + 1);
      return [...counts.values()];
    },
  };
}
