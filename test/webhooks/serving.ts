import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sign } from '../../src/api/signature.ts';
import { createExchange } from '../../src/node/exchange.ts';
import { few } from '../sandbox-world.ts';
import { type Ran, type RunOptions, svc, type World } from '../svc.ts';
import { liveWorld } from './listening.ts';

export const secret = 'sample-secret';

/** `svc webhooks serve` in the background, until it is told to end. */
export async function serving(world: World, config: string, options: RunOptions = {}, argv: readonly string[] = []) {
  const file = join(world.folder, 'svc-webhooks.yaml');
  writeFileSync(file, config);
  const ending = new AbortController();
  let said = '';
  let hangup = () => {};
  const form = argv.includes('--output') ? [] : ['--json'];
  const running = svc(world, ['webhooks', 'serve', '--config', file, ...form, ...argv], {
    env: { SVC_WEBHOOK_SECRET: secret },
    ...options,
    signal: ending.signal,
    onHangup(call) {
      hangup = call;
      return () => {};
    },
    seen: (stream, text) => {
      if (stream === 'stderr') said += text;
    },
  });
  let ran: Ran | undefined;
  void running.then((result) => {
    ran = result;
  });
  const until = async (ready: () => boolean | Promise<boolean>) => {
    for (let waited = 0; !(await ready()); waited += 5) {
      if (ran || waited > 60_000) throw new Error(`It never happened. ${JSON.stringify({ said, ran })}`);
      await sleep(5);
    }
  };
  await until(() => said.includes('Listening on '));
  return {
    file,
    until,
    said: () => said,
    /** Once so many dead letters were told of since the start: no command that asks for them, again and again. */
    async died(count: number) {
      await until(() => said.split(' is a dead letter of ').length > count);
    },
    url: /Listening on (\S+),/u.exec(said)?.[1] ?? '',
    admin: /Admin on (\S+):/u.exec(said)?.[1] ?? '',
    reload(text: string) {
      writeFileSync(file, text);
      hangup();
    },
    async end(): Promise<Ran> {
      ending.abort('SIGTERM');
      return running;
    },
  };
}

export { envelope as body } from './receiving.ts';

const exchanging = createExchange({});

/** One attempt of the service: the status, or undefined where no answer came. */
export async function deliver(url: string, text: string, key = secret, more = {}): Promise<number | undefined> {
  const answer = await (await exchanging)({
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'x-svc-event': 'ticket.created',
      'x-svc-signature': sign(key, Buffer.from(text)),
      ...more,
    },
    body: text,
    timeoutMs: 20_000,
  });
  return 'lost' in answer ? undefined : answer.status;
}

export async function get(url: string): Promise<{ status: number; text: string }> {
  const answer = await (await exchanging)({ method: 'GET', url, headers: {}, timeoutMs: 10_000 });
  return 'lost' in answer ? { status: 0, text: answer.reason } : { status: answer.status, text: answer.body };
}

export const newWorld = async (): Promise<World> => {
  const { sandbox: _, ...world } = await liveWorld({}, few);
  return world;
};
