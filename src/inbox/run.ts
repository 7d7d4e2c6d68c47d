import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import type { View } from '../output/view.ts';
import { resolvable } from '../promise/resolvable.ts';
import { openScreen, type Screen } from '../screen/screen.ts';
import { colorsOf, screenPaint } from '../screen/style.ts';
import type { TerminalPort } from '../terminal-port.ts';
import { type Engine, startEngine } from './engine.ts';
import type { Event } from './event.ts';
import type { Model } from './model.ts';
import { openSession } from './session.ts';
import { frameOf } from './view/frame.ts';
import type { Look } from './view/parts.ts';
import { viewChoices } from './views.ts';
import { loadRest, perform } from './world.ts';

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
  const begun = resolvable();
  const tell = (event: Event) => {
    engine?.tell(event);
    if (event.is === 'rows' || event.is === 'no-rows') begun.resolve();
  };
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
    const views = await viewChoices(ctx);
    engine = startEngine(
      { size: screen.size(), now: now(), view, views },
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
    // What else there is to load would hold up the first rows.
    void begun.promise.then(loadRest).catch(() => {});
    void begun.promise.then(session.follow).catch(() => {});
    const reason = await ended.promise;
    screen.close();
    await engine.settled();
    if (bug) throw bug.error;
    return (await import('./end-view.ts')).endOf(engine.model(), reason);
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
    lend<T>(work: () => Promise<T>): Promise<T> {
      tell({ is: 'away', isAway: true });
      return screen.lend(work).finally(() => tell({ is: 'away', isAway: false }));
    },
  },
  copyText: (text: string) => screen.copy(text),
  suspend: () => void screen.suspend(),
  end,
});
