import { once } from 'node:events';
import { execa } from 'execa';
import type { Clock } from '../../context.ts';
import { endGroup, endWithSvc } from '../../disk/group.ts';
import type { Answer, Sink } from './sink.ts';

type About = {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  readonly folder: string;
  readonly timeoutMs: number;
};

/**
 * A program for each event, with the envelope on its standard input. There is no shell, and what a customer wrote
 * stands in no argument. It runs in a group of its own, which ends with it: whatever it started does not pile up.
 */
export const programSink = ({ name, command, folder, timeoutMs }: About, clock: Clock): Sink => ({
  name,
  most: 1,
  async send([event], cut): Promise<Answer> {
    if (!event) return { how: 'taken' };
    const [program, ...args] = command;
    const child = execa(program, args, {
      cwd: folder,
      shell: false,
      reject: false,
      buffer: false,
      input: Buffer.concat([event.body, Buffer.from('\n')]),
      stdout: 'ignore',
      stderr: 'pipe',
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    const isOver = endWithSvc(child.pid);
    // One that does not read its input, or dies, is no reason for svc to end.
    child.stdin?.on('error', () => {});
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-400);
    });
    child.stderr?.on('error', () => {});
    const over = new AbortController();
    const late = setTimeout(() => over.abort(), timeoutMs);
    const end = () => over.abort();
    if (cut.aborted) end();
    cut.addEventListener('abort', end, { once: true });
    // Its children may hold its output open for longer than it lives.
    const exit = child.pid === undefined ? child.then((ran) => ran) : exitOf(child);
    const ended = await Promise.race([exit, aborted(over.signal)]);
    clearTimeout(late);
    cut.removeEventListener('abort', end);
    endGroup(child.pid, 'SIGTERM');
    if (ended === undefined) {
      const patience = new AbortController();
      await Promise.race([exit.finally(() => patience.abort()), clock.sleep(2_000, patience.signal)]);
    }
    endGroup(child.pid, 'SIGKILL');
    isOver();
    child.stderr?.destroy();
    void Promise.resolve(child).catch(() => {});
    if (ended?.exitCode === 0) return { how: 'taken' };
    if (ended === undefined) return cut.aborted ? { how: 'cut' } : { how: 'refused', error: 'timeout' };
    return { how: 'refused', error: whyOf(ended, said) };
  },
});

type Ended = {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly code?: string;
  readonly shortMessage?: string;
};

async function exitOf(child: ReturnType<typeof execa>): Promise<Ended> {
  const [exitCode, signal] = await once(child, 'exit');
  return { ...(exitCode !== null && { exitCode }), ...(signal && { signal }) };
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

function whyOf(ended: Ended, said: string): string {
  if (ended.code === 'ENOENT') return 'the program is not there';
  const last = said.trim().split('\n').at(-1)?.trim();
  return [howEnded(ended), last].filter(Boolean).join(': ').slice(0, 200);
}

function howEnded({ signal, exitCode, shortMessage }: Ended): string {
  if (signal) return `ended by ${signal}`;
  return exitCode === undefined ? (shortMessage ?? 'it did not start') : `exit ${exitCode}`;
}
