import type { IncomingMessage, ServerResponse } from 'node:http';
import { closedNow } from '../../promise/closed.ts';
import { queueParts } from '../event/account.ts';
import { bound, connectionsAtMost, listen, originOf, pathOf } from '../receive/listening.ts';
import type { Counts } from '../store/inbox-store.ts';

type AdminOptions = {
  readonly host: string;
  readonly port: number;
  /** Rejects where the inbox cannot be written. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => Promise<string>;
};

const mostConnections = 64;

/** For a load balancer and for Prometheus. It only tells; nothing can be changed here. */
export async function startAdmin({ host, port, ready, metrics }: AdminOptions) {
  const answers: Readonly<Record<string, () => Promise<readonly [status: number, text: string]>>> = {
    '/healthz': async () => [200, 'ok\n'],
    '/readyz': () =>
      ready().then(
        () => [200, 'ready\n'],
        () => [503, 'the inbox cannot be written\n'],
      ),
    '/metrics': async () => [200, await metrics()],
  };
  const server = process.getBuiltinModule('node:http').createServer({ requestTimeout: 10_000 });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    request.on('error', () => {}).resume();
    response.on('error', () => {});
    const path = pathOf(request);
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!answer) response.writeHead(404).end();
    else if (!isRead) response.writeHead(405, { allow: 'GET, HEAD' }).end();
    else {
      void answer()
        .catch((): readonly [number, string] => [500, 'it failed\n'])
        .then(([status, text]) => {
          response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
        });
    }
  });
  bound(server, () => connectionsAtMost(mostConnections));
  const hint = 'Set another one in the configuration: admin.port. 0 takes any free one.';
  const taken = await listen(server, { host, port, hint });
  return {
    url: originOf(host, taken),
    close: () => closedNow(server),
  };
}

export type Tally = { accepted: number; unreadable: number; rejected: number; repeats: number };

export type SinkTally = { delivered: number; failed: number; dead: number; skipped: number };

export type Told = {
  readonly tally: Tally;
  /** Where several accounts come in: of each its own. */
  readonly byAccount: ReadonlyMap<string, Tally>;
  readonly sinks: ReadonlyMap<string, SinkTally>;
  /** Undefined while the inbox does not answer. */
  readonly counts: ReadonlyMap<string, Counts> | undefined;
};

/** The text format of Prometheus. Totals are this instance's, gauges the inbox's. */
export function metricsText({ tally, byAccount, sinks, counts }: Told): string {
  const ofAccounts = byAccount.size > 0;
  const ownOf = (key: keyof Tally): Sample[] =>
    [...byAccount].map(([account, own]) => [`{account="${account}"}`, own[key]]);
  // What came while the configuration had no accounts.
  const withoutOne = (key: keyof Tally): Sample[] => {
    const rest = tally[key] - ownOf(key).reduce((sum, [, value]) => sum + value, 0);
    return rest > 0 ? [['{account=""}', rest]] : [];
  };
  const total = (key: keyof Tally): Sample[] => (ofAccounts ? [...ownOf(key), ...withoutOne(key)] : [['', tally[key]]]);
  const label = (queue: string): string => labels(queue, ofAccounts);
  const perSink = (...keys: (keyof SinkTally)[]): Sample[] =>
    [...sinks].map(([sink, tallied]) => [label(sink), keys.reduce((sum, key) => sum + tallied[key], 0)]);
  const gauges = (key: 'waiting' | 'dead'): Sample[] =>
    [...(counts ?? [])].map(([sink, count]) => [label(sink), count[key]]);
  return [
    metric('accepted_total', 'counter', 'Deliveries that were stored', total('accepted')),
    metric('unreadable_total', 'counter', 'Stored ones without an envelope', total('unreadable')),
    metric('rejected_total', 'counter', 'Deliveries with a wrong signature', total('rejected')),
    metric('repeats_total', 'counter', 'Deliveries that were there before', total('repeats')),
    metric('delivered_total', 'counter', 'Events that a sink took', perSink('delivered')),
    metric('skipped_total', 'counter', 'Events that a filter left out', perSink('skipped')),
    metric('failures_total', 'counter', 'Attempts that a sink refused', perSink('failed', 'dead')),
    metric('waiting', 'gauge', 'Events that wait for a sink', gauges('waiting')),
    metric('dead', 'gauge', 'Dead letters of a sink', gauges('dead')),
  ].join('');
}

type Sample = readonly [labels: string, value: number];

/** Where there are accounts, what came before them has an empty one. */
function labels(queue: string, ofAccounts: boolean): string {
  const { account = '', sink } = queueParts(queue);
  const safe = (text: string) => text.replaceAll(/["\\\n]/gu, '_');
  return ofAccounts ? `{account="${safe(account)}",sink="${safe(sink)}"}` : `{sink="${safe(queue)}"}`;
}

function metric(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): string {
  const full = `svc_webhooks_${name}`;
  const rows = samples.map(([labels, value]) => `${full}${labels} ${value}\n`);
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${rows.join('')}`;
}
