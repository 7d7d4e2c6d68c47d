import { Failure } from '../errors.ts';
import { call, lookFor, type Service } from '../http/call/call.ts';
import { madeIds } from '../http/exchange/made.ts';
import { readRecord } from '../http/exchange/record.ts';
import { settleRecord } from '../http/exchange/recorder.ts';
import { fieldsIn } from '../text/record.ts';
import { claim, isLapsed, withStep } from './claim.ts';
import { requestOf, rowOf } from './deliver.ts';
import type { Draft, Step } from './draft.ts';
import { whyNotMeant } from './meant.ts';
import type { DraftStore } from './store.ts';

type Settling = { readonly service: () => Promise<Service>; readonly by: string; readonly token: string };

/**
 * What somebody left `sending` and has not been heard of for 90 seconds: it never left, so it waits again; or it is found
 * at the service; or nobody knows. Returns what to tell.
 */
export async function settleLapsed(store: DraftStore, settling: Settling): Promise<readonly string[]> {
  const now = await store.now();
  const told: string[] = [];
  for (const { id } of (await store.list()).filter((draft) => isLapsed(draft, now))) {
    const held = await claim(store, { id, ...settling }, isLapsed);
    if (!held) continue;
    try {
      const draft = await held.end(await settled(held.draft(), settling));
      told.push(`Draft ${id} was being sent when svc ended: it is ${draft.state} now.`);
    } catch (error) {
      // Who may not look leaves it as it is: the claim lapses again.
      held.stop();
      if (!(error instanceof Failure)) throw error;
      told.push(`Draft ${id} was being sent when svc ended, and it could not be looked for: ${error.message}`);
    }
  }
  return told;
}

async function settled(draft: Draft, { service }: Settling): Promise<(draft: Draft) => Draft> {
  const at = draft.steps.findIndex(({ state }) => state === 'left');
  const step = draft.steps[at];
  const why = whyNotMeant(draft);
  if (step && why !== undefined)
    return (one) => ({ ...one, state: 'unknown', error: `svc ended while it was sent, and ${why}` });
  if (!step) return (one) => ({ ...one, state: allDone(one) ? 'sent' : 'waiting' });
  const found = await foundAt(await service(), step);
  if (found) await settleRecord(await service(), { row: rowOf(draft, at), operation: step.operation, id: found.id });
  if (!found)
    return (one) => ({
      ...one,
      state: 'unknown',
      error: 'svc ended while it was sent, and it was not found afterwards',
    });
  return (one) => {
    const next = withStep(one, at, { state: 'done', sent_id: found.id, before: null });
    return { ...next, state: allDone(next) ? 'sent' : 'waiting' };
  };
}

const allDone = ({ steps }: Pick<Draft, 'steps'>): boolean => steps.every(({ state }) => state === 'done');

/** Undefined where nothing shows that it was done. */
export async function foundAt(service: Service, step: Step): Promise<{ readonly id: number | null } | undefined> {
  const { operation, input } = requestOf(step);
  if (operation.safety === 'verify') {
    const { settleMs } = service.settings;
    const findings = await lookFor(service, operation, input, { before: step.before ?? 'nothing', settleMs });
    return 'found' in findings ? { id: madeIds(operation, findings.found)[0] ?? null } : undefined;
  }
  // What sets a value shows it; of notes and events nothing is shown.
  const wanted = operation.body ? fieldsIn(input.body) : { status: operation.effect?.done };
  if (operation.safety !== 'repeatable') return undefined;
  const id = Number(fieldsIn(input.params).id);
  const read = await readRecord((reader, params) => call(service, reader, { params }), operation.resource, id);
  if (!read) return undefined;
  const record = read.record ?? {};
  const names = Object.keys(wanted);
  // What it does not show by that name (a text that it shows as HTML) may be what it was before.
  const isSet = names.length > 0 && names.every((name) => Object.hasOwn(record, name) && record[name] === wanted[name]);
  return isSet ? { id: null } : undefined;
}
