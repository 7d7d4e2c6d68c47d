import type { Exchange, HttpRequest, HttpResponse, Lost } from '../src/context.ts';
import { once } from '../src/promise/once.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../src/sandbox/app.ts';
import { seedRows } from '../src/sandbox/store/seed.ts';
import { createWorld, type VirtualClock, virtualClock, type World } from './svc.ts';

export const origin = 'https://service.test';

/** A world whose service is the sandbox itself: every request of svc runs through its real handlers. */
export type SandboxWorld = World & {
  readonly clock: VirtualClock;
  readonly sandbox: Sandbox;
  /** A control call of the sandbox, with its parsed answer. */
  control(method: string, name: string, body?: unknown): Promise<unknown>;
  /** Every request that svc sent so far, `METHOD /path`. */
  readonly sent: string[];
};

/** Every clock of a test begins at the same time, and rows are never changed in place: one seed serves all worlds. */
export const demo = seedRows('demo', virtualClock().now());

/**
 * An account of the same kinds with fewer records of each, where thousands of worlds are made and none is about long lists:
 * most of what such a test takes is the records that nothing looks at.
 */
export const few: typeof demo = fewOf(demo);

function fewOf({ contacts = [], list_members = [], tickets = [], conversations = [], ...rest }: typeof demo) {
  const kept = { tickets: tickets.slice(0, 12), conversations: conversations.slice(0, 8) };
  const named = new Set([...kept.tickets, ...kept.conversations].map((row) => row.contact_id));
  for (const { contact_id } of contacts.slice(0, 20)) named.add(contact_id);
  for (const { contact_id } of rest.calls ?? []) named.add(contact_id);
  return {
    ...rest,
    ...kept,
    contacts: contacts.filter(({ contact_id }) => named.has(contact_id)),
    list_members: list_members.filter(({ contact_id }) => named.has(contact_id)),
  };
}

export function sandboxWorld(options: SandboxOptions & { readonly env?: World['env'] } = {}): SandboxWorld {
  const { env, ...own } = options;
  const clock = virtualClock();
  // Made for the first request: many a world meets a mistake on the command line, and none comes.
  const sandbox = once(() =>
    createSandbox({ seed: demo, now: () => clock.now(), sleep: (ms) => clock.sleep(ms), ...own }),
  );
  const sent: string[] = [];
  const exchange: Exchange = async (request) => {
    sent.push(`${request.method} ${request.url.replace(origin, '')}`);
    return throughSandbox(sandbox(), request);
  };
  return {
    ...createWorld(exchange, { clock, ...(env && { env: { SVC_BASE_URL: origin, ...env } }) }),
    clock,
    get sandbox() {
      return sandbox();
    },
    sent,
    async control(method, name, body) {
      const answer = await sandbox().handle({
        method,
        url: `/_sandbox/${name}`,
        headers: { host: '127.0.0.1', 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      if (answer.status >= 300) throw new Error(`${method} ${name}: ${answer.status} ${answer.body}`);
      return JSON.parse(answer.body);
    },
  };
}

/** svc asks once in a run of rows whose account it is. */
export const wholeAccount = JSON.stringify({ account_id: 1, name: 'Acme', billing_active: true, setup_url: null });

export const asksAccount = ({ url }: Pick<HttpRequest, 'url'>): boolean => url.endsWith('/platform/account');

async function throughSandbox(sandbox: Sandbox, request: HttpRequest): Promise<HttpResponse | Lost> {
  const { cut, ...answer } = await sandbox.handle({
    method: request.method,
    url: request.url.replace(origin, ''),
    headers: { host: new URL(request.url).host, ...request.headers },
    body: request.body,
  });
  if (!cut) return answer;
  const reason = cut === 'half' ? 'truncated' : 'reset';
  return { lost: 'after-sending', reason, detail: 'The connection broke.' };
}
