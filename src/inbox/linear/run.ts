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
import { allViews } from '../views.ts';
import { loadRest, perform } from '../world.ts';
import { eventsOf } from './meant.ts';
import { isNew, jobsSaid, linearSize, type Places, placesSaid, questionOf, said } from './said.ts';

/** The inbox without a screen: what is new is said, a question is asked, a line answers it. Nothing is drawn over. */
export async function runLinear(ctx: Context, settings: Settings, { view, db }: Running): Promise<View> {
  let engine: Engine | undefined;
  let isEnded = false;
  let bug: { readonly error: unknown } | undefined;
  // A line answers what was said, and is for the row that was said: while it is awaited, neither becomes another one.
  let late: Event[] | undefined;
  const tell = (event: Event) => {
    if (late && (event.is === 'rows' || event.is === 'changed')) late.push(event);
    else engine?.tell(event);
  };
  const session = openSession({ ctx, settings, db }, tell);
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
  const views = (await allViews(ctx)).map(({ name, about }) => ({ value: name, name, about }));
  const now = () => ctx.clock.now().getTime();
  try {
    engine = startEngine(
      { size: linearSize(ctx.stdout.columns), now: now(), view, views },
      {
        perform: (effect) => perform(world, effect),
        changed: () => {},
        now,
        failed: (error) => {
          bug = { error };
        },
      },
    );
    void loadRest().catch(() => {});
    void session.follow().catch(() => {});
    let told: Model | undefined;
    let places: Places = new Map();
    while (!isEnded && !ctx.signal.aborted) {
      const { columns } = ctx.stdout;
      await engine.idle();
      tell({ is: 'tick', now: now() });
      tell({ is: 'resize', ...linearSize(columns) });
      await engine.idle();
      if (bug) throw bug.error;
      const model = engine.model();
      const width = Math.max(20, columns ?? model.size.columns);
      const say = (texts: readonly string[]) => {
        for (const line of texts.flatMap((one) => wrap(one, width))) ctx.stdout.write(`${line}\n`);
      };
      if (isEnded) {
        say(jobsSaid(told, model));
        break;
      }
      say(said(told, model));
      const isConsent = isNew(model, places, told);
      places = placesSaid(places, told, model);
      told = model;
      late = [];
      const question = `${wrap(questionOf(model).trimEnd(), width - 1).join('\n')} `;
      const line = await whileTicking(ctx, engine, ctx.ask.line(question, { isConsent }));
      if (line === undefined) break;
      // Before a key takes it away as read.
      const { jobs } = engine.model();
      say(jobsSaid(told, engine.model()));
      told = { ...told, jobs };
      tell({ is: 'tick', now: now() });
      tell({ is: 'said' });
      const events = eventsOf(line, engine.model(), places);
      if (typeof events === 'string') ctx.stdout.write(`${events}\n`);
      else for (const event of events) tell(event);
      const came = late;
      late = undefined;
      for (const event of came) tell(event);
    }
    const left = late ?? [];
    late = undefined;
    for (const event of left) tell(event);
    await engine.settled();
    const { over } = engine.model();
    // Nobody is left to answer it.
    if (over?.is === 'question' && over.declined !== '') ctx.stdout.write(`${over.declined}\n`);
    return endOf(unsaid(engine.model()), ctx.signal.aborted ? String(ctx.signal.reason) : undefined);
  } finally {
    await session.end();
  }
}

const tickMs = 1_000;

/** Time goes on while a line is awaited: what is held leaves when it was said to. */
async function whileTicking<T>({ clock }: Context, { model, tell }: Engine, line: Promise<T>): Promise<T> {
  const over = new AbortController();
  const now = () => clock.now().getTime();
  const tick = async () => {
    for (let next = firstHeld(model()); next !== undefined; next = firstHeld(model())) {
      await clock.sleep(Math.max(1, Math.min(tickMs, next - now())), over.signal);
      if (over.signal.aborted) return;
      tell({ is: 'tick', now: now() });
    }
  };
  void tick();
  try {
    return await line;
  } finally {
    over.abort();
  }
}

/** When the first of what is held leaves. */
const firstHeld = ({ jobs }: Model): number | undefined =>
  jobs.flatMap(({ state, until = 0 }) => (state === 'held' ? until : [])).sort((a, b) => a - b)[0];

/** What was said already is not said again at the end. */
const unsaid = (model: Model): Model => ({
  ...model,
  jobs: model.jobs.filter(({ state }) => state === 'held' || state === 'sending'),
});
