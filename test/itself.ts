import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../src/context.ts';
import { createExchange } from '../src/node/exchange.ts';
import { once } from '../src/promise/once.ts';
import { type Ran, svc } from './svc.ts';

/** What svc was started with: its variables, and the words behind `svc`. */
export type Started = { readonly env: Readonly<Record<string, string | undefined>>; readonly argv: readonly string[] };

const clock: Clock = {
  now: () => new Date(),
  ticks: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
};

const exchange = once(() => createExchange({}));

/** What a process that is started so would do, with its own clock and over real connections. Its two folders lie side by side. */
export const inThisProcess = ({ argv, env }: Started): Promise<Ran> =>
  svc(
    { exchange: async (asked) => (await exchange())(asked), folder: dirname(env.SVC_CONFIG_DIR ?? ''), env, clock },
    argv,
  );

/**
 * Where svc starts itself, it starts a shell that has `answer` do the work in this process, prints what it says and ends
 * as it ends. To who starts it that is a program as any other, and it costs a tenth of what the start of svc does.
 * Afterwards svc starts what it would have started.
 */
export async function standInForItself(
  folder: string,
  answer: (started: Started) => Promise<Ran>,
): Promise<() => void> {
  const place = join(folder, 'itself');
  mkdirSync(place);
  let count = 0;
  const reply = async (socket: Socket, started: Started) => {
    const said = join(place, String(count++));
    const { exitCode, stdout, stderr } = await answer(started);
    writeFileSync(`${said}.out`, stdout);
    writeFileSync(`${said}.err`, stderr);
    socket.end(`${exitCode} ${said}\n`);
  };
  const server = createServer((socket) => {
    let received = '';
    socket.setEncoding('utf8').on('data', (piece) => {
      received += piece;
      const started = startedBy(received);
      if (started) void reply(socket, started);
    });
    socket.on('error', () => {});
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const script = join(place, 'svc');
  writeFileSync(script, scriptFor((server.address() as AddressInfo).port));
  const before = [process.execPath, process.argv[1] ?? ''] as const;
  [process.execPath, process.argv[1]] = ['/bin/bash', script];
  return () => {
    [process.execPath, process.argv[1]] = before;
    server.close();
  };
}

/** Bash alone, which talks to a port without another program. */
const scriptFor = (port: number): string => `
exec 3<>/dev/tcp/127.0.0.1/${port}
{ for name in "\${!SVC_@}"; do printf '%s=%s\\0' "$name" "\${!name}"; done; printf '\\0'; printf '%s\\0' "$#" "$@"; } >&3
read -r code said <&3
[ -s "$said.out" ] && cat "$said.out"
[ -s "$said.err" ] && cat "$said.err" >&2
exit "\${code:-1}"
`;

/** Undefined where a part is still to come. */
function startedBy(received: string): Started | undefined {
  const parts = received.split('\0');
  const [end, last] = [parts.indexOf(''), parts.length - 1];
  const count = Number(parts[end + 1]);
  if (end < 0 || end + 1 >= last || last < end + 2 + count) return undefined;
  const env = parts.slice(0, end).map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]);
  return { env: Object.fromEntries(env), argv: parts.slice(end + 2, end + 2 + count) };
}
