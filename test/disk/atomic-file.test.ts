import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { buildSvc } from '../built.ts';
import { real } from '../real-component.ts';

real('mkfifo')('a pipe in the place of the configuration holds up no command', async () => {
  const built = await buildSvc();
  try {
    const folder = join(built.folder, 'config');
    mkdirSync(folder, { recursive: true });
    execFileSync('mkfifo', [join(folder, 'config.json')]);
    const argv = [built.script, 'config', 'list'];
    const env = { ...process.env, SVC_CONFIG_DIR: folder };
    const run = () =>
      execFileSync(process.execPath, argv, { env, timeout: 60_000, killSignal: 'SIGKILL', stdio: 'pipe' });
    expect(run).toThrow(expect.objectContaining({ signal: null, status: 2 }));
  } finally {
    await built.remove();
  }
});
