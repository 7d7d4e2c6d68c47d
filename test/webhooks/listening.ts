import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/context.ts';
import { createExchange } from '../../src/node/exchange.ts';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';
import { createWorld, type Ran, type RunOptions, svc, type World } from '../svc.ts';

export const realClock: Clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms, signal) =>
    sleep(ms, undefined, { signal }).then(
      () => {},
      () => {},
    ),
};

const origin = 'https://service.test';

/** A sandbox that delivers over real sockets to loopback, beside real apps there. */
export async function liveWorld(env: World['env'] = {}, seed: SandboxOptions['seed'] = 'demo') {
  const sandbox = createSandbox({ seed, allowHttpTargets: true, rateLimit: 'off' });
  const real = await createExchange({});
  const sent: string[] = [];
  const world = createWorld(
    async (request) => {
      if (!request.url.startsWith(origin)) return real(request);
      const path = request.url.slice(origin.length);
      sent.push(`${request.method} ${path}`);
      return sandbox.handle({ ...request, url: path, headers: { host: 'service.test', ...request.headers } });
    },
    { clock: realClock, env: { SVC_BASE_URL: origin, SVC_TOKEN_STORE: 'file', ...env } },
  );
  const control = async (name: string, body?: object) => {
    const answer = await sandbox.handle({
      method: body ? 'POST' : 'GET',
      url: `/_sandbox/${name}`,
      headers: { host: '127.0.0.1', 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${answer.body}`);
    return JSON.parse(answer.body);
  };
  const { access_token: token } = await control('tokens', {
    account_id: 1,
    scopes: ['webhooks:manage', 'tickets:write'],
  });
  return { ...world, sandbox, sent, control, token: token as string };
}

/** svc in the background, until it is told to end. */
export async function listening(world: World, argv: readonly string[], options: RunOptions = {}) {
  const ending = new AbortController();
  const said = { stdout: '', stderr: '' };
  const running = svc(world, ['webhooks', 'listen', ...(argv.includes('--port') ? [] : ['--port', '0']), ...argv], {
    ...options,
    signal: ending.signal,
    seen: (stream, text) => {
      said[stream] += text;
    },
  });
  let ran: Ran | undefined;
  void running.then((result) => {
    ran = result;
  });
  const until = async (condition: () => boolean | Promise<boolean>) => {
    for (let waited = 0; !(await condition()); waited += 5) {
      if (ran || waited > 60_000) throw new Error(`It never happened. ${JSON.stringify({ ...said, ran })}`);
      await sleep(5);
    }
  };
  await until(() => said.stderr.includes('Listening on '));
  const [, url = ''] = /Listening on (\S+?),? /u.exec(`${said.stderr.replaceAll('\n', ' ')} `) ?? [];
  return {
    url,
    said,
    until,
    lines: () =>
      said.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    async end(): Promise<Ran> {
      ending.abort('SIGTERM');
      return running;
    },
  };
}

export type Got = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string };

/** An app that takes what is forwarded to it. */
export async function startApp(port = 0, answer: (got: Got) => number | Promise<number> = () => 200) {
  const got: Got[] = [];
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() };
    got.push(one);
    response.writeHead(await answer(one)).end('ok');
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    got,
    port: taken,
    url: `http://127.0.0.1:${taken}/`,
    ids: () => got.map(({ body }) => JSON.parse(body).id as string),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
