import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A real Secret Service, unlocked, on a session bus of its own. Its environment is what a desktop session would set. */
export async function secretService(): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), 'svc-desktop-'));
  const runtime = join(home, 'run');
  await mkdir(runtime, { mode: 0o700 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_RUNTIME_DIR: runtime,
  };
  const script = `printf sample-password | gnome-keyring-daemon --unlock --components=secrets >/dev/null
    echo "address $DBUS_SESSION_BUS_ADDRESS"; cat >/dev/null`;
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let said = '';
  for await (const bytes of session.stdout) {
    said += bytes;
    if (said.includes('\n')) break;
  }
  return {
    env: { ...env, DBUS_SESSION_BUS_ADDRESS: said.trim().replace(/^address /u, '') },
    async stop() {
      session.stdin.end();
      if (session.exitCode === null) await once(session, 'exit');
    },
  };
}
