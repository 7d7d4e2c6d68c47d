import { createRequire, syncBuiltinESMExports } from 'node:module';
import { main } from '../../src/main.ts';
import { nodeContext } from '../../src/node/context.ts';

/**
 * svc itself, made to die by SIGKILL at one instant: `victim FAULT NTH argv…`. It is the real program; only what it
 * calls of Node is watched, since nothing in svc knows of tests.
 */
const [fault = '', nth = '1', ...argv] = process.argv.slice(2);
let left = Number(nth);

function dieAt(instant: string): void {
  if (instant !== fault || --left > 0) return;
  process.kill(process.pid, 'SIGKILL');
  // The signal comes at once, but not before the next instruction.
  for (;;);
}

const load = createRequire(`${process.cwd()}/`);
const fs = load('node:fs') as typeof import('node:fs');
const files = load('node:fs/promises') as typeof import('node:fs/promises');

const { writeSync } = fs;
/** What the last write held. Lines that come together are one write, so it may hold both. */
let isArrival = false;
let isOutcome = false;
fs.writeSync = ((fd: number, bytes: Uint8Array, offset: number, length: number, position: number) => {
  isArrival = Buffer.from(bytes).includes('x-svc-signature');
  isOutcome = Buffer.from(bytes).includes('"outcome":');
  if (isArrival) dieAt('verified');
  if (isArrival && fault === 'half-written' && left === 1) writeSync(fd, bytes, offset, length >> 1, position);
  if (isArrival) dieAt('half-written');
  return writeSync(fd, bytes, offset, length, position);
}) as typeof writeSync;

const { open } = files;
files.open = async (...args: Parameters<typeof open>) => {
  const file = await open(...args);
  if (!String(args[0]).endsWith('inbox.jsonl')) return file;
  const datasync = file.datasync.bind(file);
  file.datasync = async () => {
    if (isArrival) dieAt('written');
    await datasync();
    if (isArrival) dieAt('stored');
    if (isOutcome) dieAt('settled');
  };
  return file;
};
syncBuiltinESMExports();

const { ServerResponse } = load('node:http') as typeof import('node:http');
const end = ServerResponse.prototype.end as (...args: unknown[]) => unknown;
ServerResponse.prototype.end = function (this: InstanceType<typeof ServerResponse>, ...args: unknown[]) {
  if (this.statusCode === 204) this.once('finish', () => setImmediate(() => dieAt('answered')));
  return end.apply(this, args);
} as typeof ServerResponse.prototype.end;

const ctx = nodeContext();
const watched = Object.create(ctx, {
  exchange: {
    value: async (request: Parameters<typeof ctx.exchange>[0]) => {
      dieAt('forwarding');
      const answer = await ctx.exchange(request);
      if ('status' in answer) dieAt('forwarded');
      return answer;
    },
  },
}) as typeof ctx;

process.exitCode = await main(argv, watched);
