import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { createSandbox } from '../../src/sandbox/app.ts';
import type { Delivery } from '../../src/sandbox/deliveries/attempts.ts';

/** As nginx in front: a connection goes to the next instance in turn, and to the other where that one is down. */
export async function startBalancer(ports: readonly number[]) {
  let turn = 0;
  const open = new Set<Socket>();
  const reach = (incoming: Socket, tries: number): void => {
    const port = ports[turn++ % ports.length] ?? 0;
    const outgoing = connect(port, '127.0.0.1');
    const next = () => (tries > 1 ? reach(incoming, tries - 1) : incoming.destroy());
    outgoing.once('error', next).once('connect', () => {
      outgoing.off('error', next).on('error', () => incoming.destroy());
      incoming.on('close', () => outgoing.destroy());
      incoming.pipe(outgoing).pipe(incoming);
    });
  };
  const server = createServer({ pauseOnConnect: true }, (incoming) => {
    open.add(incoming.on('error', () => {}).on('close', () => open.delete(incoming)));
    reach(incoming, ports.length);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** The service: tickets are created, and each sends its event to the one subscription. */
export async function startService(target: string) {
  const sandbox = createSandbox({ seed: 'demo', allowHttpTargets: true, rateLimit: 'off' });
  const ask = async (method: string, url: string, token: string, body?: object) => {
    const headers = { host: '127.0.0.1', authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await sandbox.handle({ method, url, headers, body: body && JSON.stringify(body) });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body);
  };
  const control = (name: string, body?: object) => ask(body ? 'POST' : 'GET', `/_sandbox/${name}`, 'none', body);
  const { access_token } = await control('tokens', { account_id: 1, scopes: ['webhooks:manage'] });
  const hook = { event_type: 'ticket.created', target_url: target };
  const { signing_secret } = await ask('POST', '/oauth-platform/webhooks', access_token, hook);
  return {
    secret: String(signing_secret),
    createTicket: (subject: string) => ask('POST', '/tickets', 'key_acme', { subject, description: 'x'.repeat(500) }),
    /** The deliveries so far, once none is being sent; those that wait are sent again at once. */
    async settled(): Promise<readonly Delivery[]> {
      for (;;) {
        // Past the pauses before the second and the third attempt.
        await control('clock', { advance_seconds: 71 });
        const { deliveries } = (await control('state')) as { deliveries: readonly Delivery[] };
        if (deliveries.every(({ status }) => status !== 'pending')) return deliveries;
      }
    },
    close: () => sandbox.close(),
  };
}
