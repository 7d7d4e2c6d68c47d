import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure, interruption } from '../errors.ts';
import type { View } from '../output/view.ts';
import { openScreen, type Screen } from '../screen/screen.ts';
import { colorsOf, screenPaint } from '../screen/style.ts';
import { howToSend } from '../sends/words.ts';
import type { TerminalPort } from '../terminal-port.ts';
import { counted } from '../text/number.ts';
import { type Engine, startEngine } from './engine.ts';
import type { Event } from './event.ts';
import type { Job, Model } from './model.ts';
import { openSession } from './session.ts';
import { frameOf } from './view/frame.ts';
import type { Look } from './view/parts.ts';
import { allViews } from './views.ts';
import { perform } from './world.ts';

export type Running = { readonly view: string; readonly db: string | undefined };

/** So often the ages on the screen are looked at; what is held counts its seconds. */
const idleMs = 30_000;
const countMs = 1_000;

/** The inbox on a screen, until it is ended. */
export async function runScreen(ctx: Context, settings: Settings, { view, db }: Running): Promise<View> {
  const terminal = await ctx.terminal?.();
  if (!terminal) throw new Error('there is no terminal');
  const paint = screenPaint(colorsOf(ctx.env, settings));
  const look: Look = { paint, selected: (text) => paint('selected', text) };
  const ended = resolvable<string | undefined>();
  let bug: { readonly error: unknown } | undefined;
  let engine: Engine | undefined;
  const tell = (event: Event) => engine?.tell(event);
  const screen = openScreen(terminal, {
    key: (key) => tell({ is: 'key', key }),
    resize: ({ columns, rows }) => tell({ is: 'resize', columns, rows }),
    resumed: () => tell({ is: 'tick', now: now() }),
    ended: (reason) => ended.resolve(reason),
  });
  const session = openSession({ ctx, settings, db }, tell);
  const now = () => ctx.clock.now().getTime();
  const end = (isNow: boolean) => {
    ended.resolve(undefined);
    if (isNow) terminal.interrupt();
  };
  const ticks = ticker(terminal, () => tell({ is: 'tick', now: now() }));
  try {
    const own = (await allViews(ctx)).map(({ name, about }) => ({ value: name, name, about }));
    engine = startEngine(
      { size: screen.size(), now: now(), view, views: own },
      {
        perform: (effect) => perform(worldOf({ ctx, session, screen, tell, end }), effect),
        changed: (model) => {
          screen.draw({ lines: frameOf(model, look) });
          ticks.every(tickMs(model));
        },
        now,
        failed: (error) => {
          bug = { error };
          ended.resolve(undefined);
        },
      },
    );
    screen.draw({ lines: frameOf(engine.model(), look) });
    ticks.every(tickMs(engine.model()));
    void session.follow().catch(() => {});
    const reason = await ended.promise;
    screen.close();
    await engine.settled();
    if (bug) throw bug.error;
    return endOf(engine.model(), reason);
  } finally {
    ticks.end();
    screen.close();
    await session.end();
  }
}

const tickMs = ({ jobs }: Model): number => (jobs.some(({ state }) => state === 'held') ? countMs : idleMs);

/** Ticks every so often, whatever happens in between. */
function ticker(terminal: TerminalPort, tick: () => void) {
  let stop = () => {};
  let ms = 0;
  const begin = () => {
    stop = terminal.after(ms, () => {
      begin();
      tick();
    });
  };
  return {
    every(other: number): void {
      if (other === ms) return;
      stop();
      ms = other;
      begin();
    },
    end: () => stop(),
  };
}

function resolvable<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve: (value: T) => resolve(value) };
}

type Parts = {
  readonly ctx: Context;
  readonly session: ReturnType<typeof openSession>;
  readonly screen: Screen;
  readonly tell: (event: Event) => void;
  readonly end: (isNow: boolean) => void;
};

const worldOf = ({ ctx, session, screen, tell, end }: Parts) => ({
  ...session.world,
  editing: {
    ctx,
    async lend<T>(work: () => Promise<T>): Promise<T> {
      tell({ is: 'away', isAway: true });
      try {
        return await screen.lend(work);
      } finally {
        tell({ is: 'away', isAway: false });
      }
    },
  },
  copyText: (text: string) => screen.copy(text),
  suspend: () => void screen.suspend(),
  end,
});

function endWords({ state, told, draft }: Job): string {
  const seeing =
    draft === undefined ? 'it is not known whether it was done' : `see draft ${draft}: svc drafts show ${draft}`;
  if (state === 'held') return `${told}: not sent; ${seeing}`;
  if (state === 'sending') return `${told}: ${seeing}`;
  return state === 'drafted' && draft !== undefined ? `${told}. ${howToSend(draft)}` : told;
}

const unsureEnd = (count: number): Failure =>
  new Failure('unknown', `It is not known whether ${counted(count, 'write')} ${count === 1 ? 'was' : 'were'} done.`, {
    hint: 'To see what became of it, once it is known: svc audit list --outcome unknown',
  });

/** What was not read yet is told below the prompt: it would be gone with the screen. */
export function endOf(model: Model, reason: string | undefined): View {
  const open = model.jobs.filter(({ state }) => ['held', 'sending', 'drafted', 'refused', 'unknown'].includes(state));
  const notes = open.map(endWords);
  const data = { shape: 'nothing' as const };
  const unsure = open.filter(({ state }) => state === 'sending' || state === 'unknown').length;
  if (reason !== undefined && reason !== 'SIGINT')
    return { data, notes, failure: interruption({ reason: reason === 'closed' ? 'SIGHUP' : reason }) };
  return unsure === 0 ? { data, notes } : { data, notes, failure: unsureEnd(unsure) };
}
