import { execa } from 'execa';
import type { Clock } from '../../context.ts';
import { endGroup, endWithSvc } from '../../disk/log/group.ts';
import { located } from '../../disk/place/program.ts';
import { startingFolder } from '../../disk/place/working-folder.ts';
import { Failure } from '../../errors.ts';
import { aborted } from '../../promise/aborted.ts';
import { within } from '../../promise/in-time.ts';
import { splitWords } from '../../text/command-words.ts';
import { listed } from '../../text/listed.ts';
import { type Found, publicUrl, surely } from './tunnel-url.ts';

/** A program that makes the local receiver reachable from outside. */
export type Tunnel = Awaited<ReturnType<typeof openTunnel>>;

export type TunnelRecipe = {
  readonly words: readonly string[];
  /** What of all that it printed may be the public URL. `port`: of the receiver. */
  readonly find: (output: string, port: number) => Found | undefined;
};

/**
 * cloudflared also prints links to its terms and its documentation, hence a pattern for each program; where it has no network,
 * an error names the address at which it asks for a tunnel.
 */
const known: Readonly<Record<string, TunnelRecipe>> = {
  cloudflared: {
    words: ['cloudflared', 'tunnel', '--no-autoupdate', '--url', 'http://127.0.0.1:{port}'],
    find: (output) => surely(/https:\/\/(?!api\.)[a-z\d-]+\.trycloudflare\.com/u.exec(output)?.[0]),
  },
  ngrok: {
    words: ['ngrok', 'http', '127.0.0.1:{port}', '--log', 'stdout', '--log-format', 'logfmt'],
    find: (output) => surely(/\burl=(https:\/\/[^\s"]+)/u.exec(output)?.[1]),
  },
};

/** `cloudflared`, `ngrok`, or a command in which `{port}` stands for the receiver's port. */
export function tunnelRecipe(text: string): TunnelRecipe {
  const recipe = Object.hasOwn(known, text) ? known[text] : undefined;
  if (recipe) return recipe;
  const words = splitWords(text, '--tunnel');
  if (words.length === 0) throw new Failure('usage', '--tunnel is empty: name a program, or a command with {port}.');
  return { words, find: publicUrl };
}

type Surroundings = { readonly clock: Clock; readonly signal?: AbortSignal; readonly patienceMs?: number };

export async function openTunnel(recipe: TunnelRecipe, port: number, around: Surroundings) {
  const { clock, signal, patienceMs = 30_000 } = around;
  const [program = '', ...args] = recipe.words.map((word) => word.replaceAll('{port}', String(port)));
  const child = start(await located(program), args);
  const isOver = endWithSvc(child.pid);
  const printed: Printed = { text: '' };
  let closing = false;
  /** Resolves with a sentence when the tunnel ends by itself; never after `close`. */
  const died = child.then((result) => {
    isOver();
    if (closing) return new Promise<string>(() => {});
    return failureOf(program, result, printed.text);
  });
  const close = async (): Promise<void> => {
    closing = true;
    await endAll(child, clock);
  };

  const stopped = new AbortController();
  const later = (ms: number) => clock.sleep(ms, stopped.signal);
  const chosen = (urls: readonly string[]): Named => {
    const [url] = urls;
    if (url !== undefined && urls.length === 1) return { url };
    const said = urls.length === 0 ? 'no URL' : `${listed(urls)}, and does not say which is the tunnel`;
    return { problem: `${program} named ${said}` };
  };
  const found = findUrl(recipe, port, { child, printed, later, stopped: stopped.signal });
  try {
    const first = await Promise.race([
      found.then(async (urls) => {
        await later(300);
        return chosen(urls);
      }),
      // What a program names and then fails over was no tunnel: the link stood in its error.
      died.then(async (problem): Promise<Named> => {
        const urls = recipe.find(printed.text, port)?.urls;
        return urls && (await child).exitCode === 0 ? chosen(urls) : { problem };
      }),
      clock.sleep(patienceMs, stopped.signal).then(() => ({ problem: `${program} named no URL in time` })),
      ...(signal ? [aborted(signal).then(() => ({ problem: 'interrupted' }))] : []),
    ]);
    // Where the service can reach us.
    if ('url' in first) return { url: first.url, died, close };
    await close();
    throw new Failure('failed', `The tunnel did not come up: ${first.problem}.`, {
      hint: 'Run the tunnel yourself and give its address with --public-url.',
    });
  } finally {
    stopped.abort();
  }
}

type Named = { readonly url: string } | { readonly problem: string };

type Child = ReturnType<typeof start>;

/** No shell: what stands in the command is one program and its arguments, whatever characters they hold. */
const start = (program: string, args: readonly string[]) =>
  execa(program, args, {
    shell: false,
    buffer: false,
    reject: false,
    stdin: 'ignore',
    all: true,
    cwd: startingFolder(),
    // A group of its own: Ctrl-C reaches svc alone, which ends the tunnel and its children when its turn has come.
    detached: process.platform !== 'win32',
    windowsHide: true,
  });

/** Politely, and after three seconds for good; with its children. */
async function endAll(child: Child, clock: Clock): Promise<void> {
  endGroup(child.pid, 'SIGTERM');
  await within(clock, 3_000, child);
  endGroup(child.pid, 'SIGKILL');
}

type Printed = { text: string };

type Reading = {
  readonly child: Child;
  readonly printed: Printed;
  readonly later: (ms: number) => Promise<void>;
  /** From when on what is printed is kept for a message alone. */
  readonly stopped: AbortSignal;
};

/** The URL in what the program prints, or those of which nobody knows which it is. */
function findUrl(
  recipe: TunnelRecipe,
  port: number,
  { child, printed, later, stopped }: Reading,
): Promise<readonly string[]> {
  return new Promise((resolve) => {
    const look = (text: string, afterMs: number) => {
      const found = recipe.find(text, port);
      if (found && found.afterMs <= afterMs) resolve(found.urls);
      return found;
    };
    child.all?.on('data', (chunk: Buffer) => {
      // The latest is enough for a message, and for a URL that came in two pieces.
      printed.text = (printed.text + chunk.toString('utf8')).slice(-16_384);
      if (stopped.aborted) return;
      look(printed.text.slice(0, printed.text.search(/\s\S*$/u) + 1), 0);
      // At the very end nothing may follow it.
      void later(1_000).then(() => look(printed.text, 0));
      const first = recipe.find(printed.text, port);
      if (!first) return;
      void later(first.afterMs).then(() => {
        // What was named meanwhile has its own time.
        if (recipe.find(printed.text, port)?.urls.join() === first.urls.join()) look(printed.text, first.afterMs);
      });
    });
  });
}

function failureOf(program: string, result: { code?: string; exitCode?: number; signal?: string }, output: string) {
  if (result.code === 'ENOENT') return `${program} is not installed, or not on the PATH`;
  const how = result.signal ? `was ended by ${result.signal}` : `ended with exit ${result.exitCode ?? 'unknown'}`;
  const last = output.trim().split('\n').at(-1)?.trim();
  return last ? `${program} ${how}: ${last}` : `${program} ${how}`;
}
