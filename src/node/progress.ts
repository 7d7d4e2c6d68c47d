import type { Ora } from 'ora';
import type { Context } from '../context.ts';
import { sanitize } from '../text/sanitize.ts';

type Stream = Context['stderr'];
type Env = Readonly<Record<string, string | undefined>>;

/** What is done sooner needs no spinner, and loading one costs 25 ms. */
const patienceMs = 150;

/** One line that tells what is going on, on a terminal that can replace a line; cut to it, gone when it is cleared. */
export function createProgress(stream: Stream, env: Env): Context['progress'] {
  // A terminal that does not know its width (a pseudo-terminal of a script) would have the spinner clear lines for ever.
  if (!stream.isTTY || !stream.columns || env.TERM === 'dumb' || env.CI) return () => {};
  let spinner: Ora | undefined;
  let cut: (text: string, width: number) => string = (text) => text;
  let latest: string | undefined;
  let waiting: NodeJS.Timeout | undefined;
  const show = () => {
    if (!spinner || latest === undefined) return;
    // The spinner and the blank behind it take two cells; a full line would wrap on some terminals.
    const text = cut(sanitize(latest), (stream.columns || 80) - 3);
    spinner.text = text;
    if (!spinner.isSpinning) spinner.start();
  };
  const load = async () => {
    const [{ default: ora }, width] = [await import('ora'), await import('../text/width.ts')];
    cut = width.cut;
    // Ctrl-C must stay what it is, so standard input is left alone.
    spinner = ora({ stream, discardStdin: false, isEnabled: true });
    show();
  };
  return (text) => {
    latest = text;
    if (text === undefined) {
      clearTimeout(waiting);
      waiting = undefined;
      spinner?.stop();
    } else if (spinner) {
      show();
    } else if (waiting === undefined) {
      waiting = setTimeout(() => void load(), patienceMs);
      waiting.unref();
    }
  };
}
