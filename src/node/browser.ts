import { pathToFileURL } from 'node:url';
import { located } from '../disk/place/program.ts';
import { visitFile } from '../disk/place/visit-file.ts';
import { startingFolder } from '../disk/place/working-folder.ts';
import type { Env } from '../env.ts';
import { Failure } from '../errors.ts';

/** As long as a login waits; a page that is not visited by then is not visited. */
const longestMs = 5 * 60_000;

/**
 * Opens the URL in the browser that `BROWSER` names, else in the system's. Throws where there is none. The browser is
 * given a file that leads to the URL, which no argument list then holds; it is gone when `visited` fires, after five
 * minutes, and when svc ends.
 */
export async function openBrowser(url: URL, env: Env, visited: AbortSignal): Promise<void> {
  refuseElsewhere(env);
  const { path, remove } = await visitFile(url);
  const over = () => {
    clearTimeout(timer);
    process.off('exit', over);
    visited.removeEventListener('abort', over);
    remove();
  };
  const timer = setTimeout(over, longestMs).unref();
  // Before the browser starts: svc may be ended while that takes a moment.
  process.on('exit', over);
  visited.addEventListener('abort', over);
  try {
    if (env.BROWSER) await openNamed(env.BROWSER, pathToFileURL(path).href);
    else await openUsual(path);
  } catch (error) {
    over();
    throw error;
  }
  if (visited.aborted) over();
}

/** Where no browser can be, or one that runs on another machine and sees no file of this one. */
function refuseElsewhere(env: Env): void {
  // The terminal of an editor that is connected from afar; its `BROWSER` passes addresses on, in arguments.
  if (env.VSCODE_IPC_HOOK_CLI) throw noBrowser(new Error('the browser is on another machine'));
  const isSystem = !env.BROWSER && process.platform === 'linux';
  if (isSystem && !env.DISPLAY && !env.WAYLAND_DISPLAY && !env.WSL_DISTRO_NAME) {
    throw noBrowser(new Error('there is no display'));
  }
}

async function openNamed(command: string, address: string): Promise<void> {
  const [{ execa }, { parseArgsStringToArgv }] = [await import('execa'), await import('string-argv')];
  const [program = '', ...args] = parseArgsStringToArgv(command);
  const placed = args.some((arg) => arg.includes('%s')) ? args : [...args, '%s'];
  const given = placed.map((arg) => arg.replaceAll('%s', address));
  const started = execa(await located(program), given, {
    stdio: 'ignore',
    cwd: startingFolder(),
    detached: true,
    cleanup: false,
  });
  started.unref();
  await new Promise<void>((resolve, reject) => {
    started.once('spawn', resolve);
    started.catch((error: Error) => reject(noBrowser(error)));
  });
}

async function openUsual(path: string): Promise<void> {
  const { default: open } = await import('open');
  const started = await open(path);
  await new Promise<void>((resolve, reject) => {
    started.once('error', (error) => reject(noBrowser(error)));
    setTimeout(resolve, 300);
  });
}

const noBrowser = (cause: Error): Failure =>
  new Failure('failed', 'No browser could be opened.', { hint: 'Open the address yourself.', cause });
