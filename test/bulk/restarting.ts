// A service that refuses, loses or stops a run half-way, and runs of files before it that count what each of them sent.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HttpResponse } from '../../src/context.ts';
import { refusals, refusing } from '../refusing.ts';
import { few, sandboxWorld } from '../sandbox-world.ts';
import { atDesk } from '../sends/drafting.ts';

/** `Ctrl-C`: it comes while the request is on its way. */
export type Meets = 'is done' | 'vanishes' | 'Ctrl-C' | keyof typeof refusals;

const gateway: HttpResponse = { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Gateway</html>' };
export const reply = 'tickets reply';
export const own = 'id,body\n8,Hello Ann\n9,Hello Bob\n';
/** The service is away from the first row on. */
export const atOnce: readonly Meets[] = new Array(8).fill('a closed port');
/** An attempt, and what svc does to find it. */
export const unknown: readonly Meets[] = ['is done', ...new Array(4).fill('vanishes')];

export function runs(env: Readonly<Record<string, string | undefined>> = {}) {
  const service = refusing(sandboxWorld({ rateLimit: 'off', seed: few }), /\/(?:tickets|webhooks)\b/u);
  let sent: string[] = [];
  const world: typeof service.world = {
    ...service.world,
    exchange(request) {
      if (request.method === 'POST') sent.push(String(request.body));
      return service.world.exchange(request);
    },
  };
  const desk = atDesk(world);
  const put = (name: string, text: string) => {
    writeFileSync(join(world.folder, name), text);
    return join(world.folder, name);
  };
  const run = async (
    words: string,
    file: string,
    text: string,
    flags: readonly string[] = [],
    met: readonly Meets[] = [],
  ) => {
    const left = [...met];
    const stops = new AbortController();
    service.meets(() => {
      const next = left.shift() ?? 'is done';
      if (next === 'Ctrl-C') stops.abort();
      if (next === 'is done' || next === 'Ctrl-C') return undefined;
      return next === 'vanishes' ? gateway : refusals[next];
    });
    await world.clock.sleep(60_000);
    sent = [];
    const fast = ['--yes', '--json', '--settle', '1', '--max-wait', '3', '--concurrency', '1'];
    const from = file === '-' ? file : put(file, text);
    const line = [...words.split(' '), '--from', from, ...fast, ...flags];
    const ran = await desk.run(line, { env, signal: stops.signal, ...(file === '-' && { stdin: text }) });
    return { ...ran, sent };
  };
  const control = (scopes: readonly string[]) => service.world.control('POST', 'tokens', { account_id: 1, scopes });
  return { ...desk, run, put, control, world };
}
