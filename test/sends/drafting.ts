import { expect } from 'vitest';
import { few, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type Ran, type RunOptions, svc, type World } from '../svc.ts';

/** A draft as `--json` shows it. */
export type Shown = {
  readonly id: number;
  readonly state: string;
  readonly batch: string | null;
  readonly operation: string;
  readonly to: string | null;
  readonly body: string | null;
  readonly digest: string;
  readonly sent_id: number | null;
  readonly error: string | null;
  readonly steps: readonly { readonly operation: string; readonly state: string; readonly body: unknown }[];
};

/** A sandbox that a person answers from: `run` is one command, `ok` one that must end with 0. */
export function desk(options: Parameters<typeof sandboxWorld>[0] = {}) {
  const world = sandboxWorld({ rateLimit: 'off', seed: few, ...options });
  return { world, ...atDesk(world) };
}

export function atDesk(world: World) {
  const run = (line: string | readonly string[], more: RunOptions = {}): Promise<Ran> =>
    svc(world, typeof line === 'string' ? line.split(' ') : line, more);
  const ok = async (line: string | readonly string[], more: RunOptions = {}): Promise<Ran> => {
    const ran = await run(line, more);
    expect(`${ran.stderr}\nexit ${ran.exitCode}`).toMatch(/exit 0$/u);
    return ran;
  };
  const json = async <T>(line: string, more: RunOptions = {}): Promise<T> =>
    JSON.parse((await ok(`${line} --json`, more)).stdout);
  const draft = (line: string, more: RunOptions = {}) => json<Shown>(`${line} --draft`, more);
  const shown = (id: number, more: RunOptions = {}) => json<Shown>(`drafts show ${id}`, more);
  const approve = async (id: number, more: RunOptions = {}) =>
    run(`drafts approve ${id} --digest ${(await shown(id, more)).digest} --json`, more);
  return { run, ok, json, draft, shown, approve };
}

/** What changed something at the service. */
export const writesOf = ({ sent }: Pick<SandboxWorld, 'sent'>): string[] =>
  sent.filter((line) => !line.startsWith('GET'));
