import type { Ora } from 'ora';
import type { Context, Doing } from '../context.ts';
import type { Env } from '../env.ts';
import { sanitize } from '../text/sanitize.ts';
import { ticks } from '../ticks.ts';
import { type Going, note } from './going.ts';

type Stream = Context['stderr'];
export type Parts = {
  readonly stream: Stream;
  readonly env: Env;
  /** What began before this was loaded. */
  readonly going?: Going;
  /** What was said already, and is not said again. */
  readonly said?: ReadonlySet<string>;
  /** While a full screen has the terminal nothing is written there; what goes on is noted all the same. */
  readonly isHidden?: () => boolean;
};

/** What is done sooner needs no spinner, and loading one costs 25 ms. */
const patienceMs = 250;
/** Requests that follow each other sooner are one wait. */
const restMs = 100;
/** In a pipe, what is waited for longer than this is said. */
const longMs = 5_000;
/** Short works that come now and then are not one long one. */
const restOfWorkMs = 1_000;
/** And how far a long work has come, so often. */
const everyMs = 10_000;

/** Of several things that go on, the one that tells most is shown. */
const order: readonly Doing[] = ['wait', 'look', 'work', 'request'];

/** Signs of life on standard error: a spinner on a terminal, now and then a line elsewhere. */
export function createProgress(parts: Parts): Context['progress'] {
  const { stream, env } = parts;
  // A terminal that does not know its width (a pseudo-terminal of a script) would have the spinner clear lines for ever.
  const canReplace = stream.isTTY && stream.columns && env.TERM !== 'dumb' && !env.CI;
  return canReplace ? spinner(parts) : lines(parts);
}

/** One line that is replaced; cut to the width, and off the screen when something else is to be written. */
function spinner({ stream, going = new Map(), isHidden = () => false }: Parts): Context['progress'] {
  let shown: Ora | 'loading' | undefined;
  let cut: (text: string, width: number) => string = (text) => text;
  let began = Math.min(ticks(), ...[...going.values()].map(({ since }) => since));
  let due: NodeJS.Timeout | undefined;
  const show = async () => {
    if (shown === 'loading' || isHidden()) return;
    if (!shown) {
      shown = 'loading';
      const [{ default: ora }, width] = [await import('ora'), await import('../text/width.ts')];
      cut = width.cut;
      // Ctrl-C must stay what it is, so standard input is left alone.
      shown = ora({ stream, discardStdin: false, isEnabled: true, color: false });
    }
    const doing = order.find((one) => going.has(one));
    if (!doing || isHidden()) return;
    // The spinner and the blank behind it take two cells; a full line would wrap on some terminals.
    shown.text = cut(sanitize(going.get(doing)?.text ?? ''), (stream.columns || 80) - 3);
    if (!shown.isSpinning) shown.start();
  };
  const at = (ms: number, act: () => void) => {
    clearTimeout(due);
    due = setTimeout(act, Math.max(0, ms)).unref();
  };
  const isShown = () => shown !== undefined && shown !== 'loading' && shown.isSpinning;
  // One that does not spin would move the cursor all the same, which is another's while a full screen is there.
  const stop = () => {
    if (shown !== 'loading' && shown?.isSpinning) shown.stop();
  };
  const update = () => {
    if (going.size > 0) {
      if (!Number.isFinite(began)) began = ticks();
      if (isShown()) {
        clearTimeout(due);
        void show();
      } else at(began + patienceMs - ticks(), () => void show());
      return;
    }
    at(restMs, () => {
      began = Number.NaN;
      stop();
    });
  };
  if (going.size > 0) update();
  return (text, doing = 'wait') => {
    note(going, doing, text);
    update();
    if (text !== undefined || doing !== 'wait') return;
    // Something is about to be written here.
    stop();
    if (going.size > 0) at(restMs, () => void show());
    else clearTimeout(due);
    if (going.size === 0) began = Number.NaN;
  };
}

/** Whole lines, for a pipe, a log or a simple terminal: each long wait once, and long work now and then. */
function lines({ stream, going = new Map(), said = new Set(), isHidden = () => false }: Parts): Context['progress'] {
  const asked = new Set<string>();
  // Work is told of by the clock, not by what it does: a page that takes long may not delay the next line.
  let told = Math.min(ticks(), ...[...going.values()].map(({ since }) => since));
  // Work that rests that long is another one when it goes on.
  let ended = Number.POSITIVE_INFINITY;
  let last: { readonly text: string; readonly at: number } | undefined;
  let isArmed = false;
  const say = (text: string) => {
    const safe = sanitize(text);
    if (!isHidden() && !said.has(safe) && !said.has(`${safe}.`)) stream.write(`${safe}\n`);
  };
  const tellWork = () => {
    isArmed = false;
    const work = going.get('work');
    if (!work) return;
    told = ticks();
    // The same line again would look like a line that was written twice.
    if (last?.text === work.text) say(`${work.text} · unchanged for ${Math.round((told - last.at) / 1000)} s`);
    else {
      last = { text: work.text, at: told };
      say(work.text);
    }
    arm();
  };
  const arm = () => {
    if (isArmed) return;
    isArmed = true;
    setTimeout(tellWork, Math.max(0, told + everyMs - ticks())).unref();
  };
  const watch = (doing: Doing) => {
    const { since = Number.NaN } = going.get(doing) ?? {};
    const look = () => {
      const now = going.get(doing);
      if (now?.since !== since || asked.has(now.text)) return;
      // Requests all wait for the same service, and a wait that comes again says nothing new.
      asked.add(now.text);
      say(now.text);
    };
    setTimeout(look, since + longMs - ticks()).unref();
  };
  for (const doing of going.keys()) {
    if (doing === 'work') arm();
    else watch(doing);
  }
  return (text, doing = 'wait') => {
    const isNew = !going.has(doing);
    note(going, doing, text);
    if (doing === 'work' && text === undefined) ended = ticks();
    if (text === undefined) return;
    if (doing !== 'work') {
      if (isNew) watch(doing);
      return;
    }
    if (isNew && ticks() - ended > restOfWorkMs) told = ticks();
    ended = Number.POSITIVE_INFINITY;
    arm();
  };
}
