import { Failure } from '../errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Opens the URL in the browser that `BROWSER` names, else in the system's. Throws where there is none. */
export async function openBrowser(url: URL, env: Env): Promise<void> {
  if (env.BROWSER) {
    const [{ execa }, { parseArgsStringToArgv }] = [await import('execa'), await import('string-argv')];
    const [program = '', ...args] = parseArgsStringToArgv(env.BROWSER);
    const placed = args.map((arg) => arg.replaceAll('%s', url.href));
    const started = execa(program, placed.includes(url.href) ? placed : [...placed, url.href], {
      stdio: 'ignore',
      detached: true,
      cleanup: false,
    });
    started.unref();
    await new Promise<void>((resolve, reject) => {
      started.once('spawn', resolve);
      started.catch((error: Error) => reject(noBrowser(error)));
    });
    return;
  }
  if (process.platform === 'linux' && !env.DISPLAY && !env.WAYLAND_DISPLAY && !env.WSL_DISTRO_NAME) {
    throw noBrowser(new Error('there is no display'));
  }
  const { default: open } = await import('open');
  const started = await open(url.href);
  await new Promise<void>((resolve, reject) => {
    started.once('error', (error) => reject(noBrowser(error)));
    setTimeout(resolve, 300);
  });
}

const noBrowser = (cause: Error): Failure =>
  new Failure('failed', 'No browser could be opened.', { hint: 'Open the address yourself.', cause });
