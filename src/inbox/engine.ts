import type { Effect } from './effect.ts';
import type { Event } from './event.ts';
import { asOf } from './jobs.ts';
import { begin, type Model, type Start } from './model.ts';
import { update } from './update.ts';

export type Engine = ReturnType<typeof startEngine>;

type Ports = {
  readonly perform: (effect: Effect) => Promise<void>;
  readonly changed: (model: Model) => void;
  /** Milliseconds of the wall clock. */
  readonly now: () => number;
  /** A bug of svc itself: the terminal is given back before it is told. */
  readonly failed: (error: unknown) => void;
};

/** Effects of one lane come one after the other; of `last` only the latest that waits is done. */
const lanes: Readonly<Partial<Record<Effect['do'], string>>> = {
  ...{ list: 'list', open: 'open', send: 'write', change: 'write', reject: 'write' },
  ...{ compose: 'text', keep: 'text', edit: 'text', fill: 'text', looked: 'text', snooze: 'text' },
  ...{ templates: 'text', 'read-drafts': 'text' },
};

const last = new Set(['list', 'open']);

/** Runs the model: events in one at a time, effects out, and whoever draws is told of another model. */
export function startEngine(start: Start, { perform, changed, now, failed }: Ports) {
  const first = begin(start);
  let model = first.model;
  const waiting = new Map<string, Effect[]>();
  const running = new Map<string, Promise<void>>();
  const run = async (lane: string): Promise<void> => {
    for (let next = waiting.get(lane)?.shift(); next; next = waiting.get(lane)?.shift()) await perform(next);
    running.delete(lane);
  };
  const begun = (effect: Effect) => {
    const lane = lanes[effect.do];
    if (lane === undefined) return void perform(effect).catch(failed);
    waiting.set(lane, [...(last.has(lane) ? [] : (waiting.get(lane) ?? [])), effect]);
    if (!running.has(lane))
      running.set(
        lane,
        Promise.resolve()
          .then(() => run(lane))
          .catch(failed),
      );
  };
  const tell = (event: Event) => {
    try {
      // What is held, and every age, is counted from the moment in which something happens.
      const before = asOf(model, now());
      const step = update(before, event);
      const isOther = step.model !== before;
      if (!isOther && step.effects.length === 0) return;
      model = step.model;
      for (const effect of step.effects) begun(effect);
      if (isOther) changed(model);
    } catch (error) {
      failed(error);
    }
  };
  for (const effect of first.effects) begun(effect);
  return {
    model: () => model,
    tell,
    /** Resolves once nothing that writes is under way. */
    settled: () => over(['write', 'text']),
    /** Resolves once all that was asked for has come. */
    idle: () => over(['write', 'text', 'list', 'open']),
  };

  async function over(names: readonly string[]): Promise<void> {
    const busy = () => names.flatMap((lane) => running.get(lane) ?? []);
    for (let open = busy(); open.length > 0; open = busy()) await Promise.all(open);
  }
}
