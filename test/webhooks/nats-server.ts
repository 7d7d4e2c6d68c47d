import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';

export type NatsServer = {
  readonly url: string;
  /** Starts it again, with what it stored. */
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
};

/** A real nats-server with JetStream, which keeps its streams in a folder of its own. `config`: more of its own configuration. */
export async function startNats(config = ''): Promise<NatsServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-nats-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const file = join(folder, 'nats.conf');
    await writeFile(file, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${folder}" }\n${config}`);
    child = spawn('nats-server', ['-c', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await new Promise<void>((ready, failed) => {
      let said = '';
      child?.stderr?.on('data', (text) => {
        said += text;
        if (said.includes('Server is ready')) ready();
      });
      child?.once('exit', () => failed(new Error(said)));
    });
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const over = once(child, 'exit');
    child.kill(signal);
    await over;
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    start,
    end,
    async stop() {
      await end('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
