import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { View } from '../../output/view.ts';
import { loadWidths } from '../../screen/width.ts';
import { wrap } from '../../text/width.ts';
import { endOf } from '../end-view.ts';
import { type Engine, startEngine } from '../engine.ts';
import type { Event } from '../event.ts';
import type { Model } from '../model.ts';
import type { Running } from '../run.ts';
import { openSession } from '../session.ts';
import { viewChoices } from '../views.ts';
import { loadRest, perform } from '../world.ts';
import { eventsOf } from './meant.ts';
import { isNew, jobsSaid, linearSize, type Places, placesSaid, questionOf, said } from './said.ts';

/** The inbox without a screen: what is new is said, a question is asked, a line answers it. Nothing is drawn over. */
export async function runLinear(ctx: Context, settings: Settings, { view, db }: Running): Promise<View> {
  let engine: Engine | undefined;
  let isEnded = false;
  let bug: { readonly error: unknown } | undefined;
  const events = holdable((event) => engine?.tell(event));
  const session = openSession({ ctx, settings, db }, events.tell);
  const world = {
    ...session.world,
    editing: { ctx, lend: <T>(work: () => Promise<T>) => work() },
    copyText: () => {},
    suspend: () => {},
    end: () => {
      isEnded = true;
    },
  };
  await loadWidths();
  const views = await viewChoices(ctx);
  try {
    engine = startEngine(
      { size: linearSize(ctx.stdout.columns), now: nowOf(ctx), view, views },
      {
        perform: (effect) => perform(world, effect),
        changed: () => {},
        now: () => nowOf(ctx),
        failed: (error) => {
          bug = { error };
        },
      },
    );
    void loadRest().catch(() => {});
    void session.follow().catch(() => {});
    await converse(ctx, { engine, events, bug: () => bug, isEnded: () => isEnded });
    events.release();
    await engine.settled();
    const { over } = engine.model();
    // Nobody is left to answer it.
    if (over?.is === 'question' && over.declined !== '') ctx.stdout.write(`${over.declined}\n`);
    return endOf(unsaid(engine.model()), ctx.signal.aborted ? String(ctx.signal.reason) : undefined);
  } finally {
    await session.end();
  }
}

type Talk = {
  readonly engine: Engine;
  readonly events: ReturnType<typeof holdable>;
  /** Of svc itself. */
  readonly bug: () => { readonly error: unknown } | undefined;
  readonly isEnded: () => boolean;
};

/** Says what is new, asks, and tells what the line means, until it is over. */
async function converse(ctx: Context, { engine, events, bug, isEnded }: Talk): Promise<void> {
  let told: Model | undefined;
  let places: Places = new Map();
  while (!isEnded() && !ctx.signal.aborted) {
    const { columns } = ctx.stdout;
    await engine.idle();
    events.tell({ is: 'tick', now: nowOf(ctx) });
    events.tell({ is: 'resize', ...linearSize(columns) });
    await engine.idle();
    const found = bug();
    if (found) throw found.error;
    const model = engine.model();
    const width = Math.max(20, columns ?? model.size.columns);
    const say = (texts: readonly string[]) => {
      for (const line of texts.flatMap((one) => wrap(one, width))) ctx.stdout.write(`${line}\n`);
    };
    if (isEnded()) return say(jobsSaid(told, model));
    say(said(told, model));
    const isConsent = isNew(model, places, told);
    places = placesSaid(places, told, model);
    told = model;
    events.hold();
    const question = `${wrap(questionOf(model).trimEnd(), width - 1).join('\n')} `;
    const line = await whileTicking(ctx, engine, ctx.ask.line(question, { isConsent }));
    if (line === undefined) return;
    // Before a key takes it away as read.
    const { jobs } = engine.model();
    say(jobsSaid(told, engine.model()));
    told = { ...told, jobs };
    events.tell({ is: 'tick', now: nowOf(ctx) });
    events.tell({ is: 'said' });
    const meant = eventsOf(line, engine.model(), places);
    if (typeof meant === 'string') ctx.stdout.write(`${meant}\n`);
    else for (const event of meant) events.tell(event);
    events.release();
  }
}

/** A line answers what was said, and is for the row that was said: while it is awaited, neither becomes another one. */
function holdable(tell: (event: Event) => void) {
  let late: Event[] | undefined;
  return {
    tell(event: Event): void {
      if (late && (event.is === 'rows' || event.is === 'changed')) late.push(event);
      else tell(event);
    },
    hold(): void {
      late = [];
    },
    release(): void {
      const came = late ?? [];
      late = undefined;
      for (const event of came) tell(event);
    },
  };
}

const nowOf = ({ clock }: Context): number => clock.now().getTime();

const tickMs = 1_000;

/** Time goes on while a line is awaited: what is held leaves when it was said to. */
function whileTicking<T>(ctx: Context, { model, tell }: Engine, line: Promise<T>): Promise<T> {
  const over = new AbortController();
  const tick = async () => {
    for (let next = firstHeld(model()); next !== undefined; next = firstHeld(model())) {
      await ctx.clock.sleep(Math.max(1, Math.min(tickMs, next - nowOf(ctx))), over.signal);
      if (over.signal.aborted) return;
      tell({ is: 'tick', now: nowOf(ctx) });
    }
  };
  void tick();
  return line.finally(() => over.abort());
}

/** When the first of what is held leaves. */
const firstHeld = ({ jobs }: Model): number | undefined =>
  jobs.flatMap(({ state, until = 0 }) => (state === 'held' ? until : [])).sort((a, b) => a - b)[0];

/** What was said already is not said again at the end. */
const unsaid = (model: Model): Model => ({
  ...model,
  jobs: model.jobs.filter(({ state }) => state === 'held' || state === 'sending'),
});
