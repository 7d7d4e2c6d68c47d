import { resources } from '../../api/resources.ts';
import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { type NumberTable, numberTable } from '../../text/number-table.ts';
import { fieldsIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { short } from '../../text/short.ts';
import type { Plan, Planned } from './plan.ts';

/** What a row does beside its own request. `one`: of a single record. `to`: the value that it sets. */
type Beside = { readonly verb: string; readonly one: string; readonly to?: string };

function besidesOf({ input: { after, follows = [] } }: Pick<Planned, 'input'>): readonly Beside[] {
  const sets = (body: unknown) =>
    Object.entries(fieldsIn(body)).map(([field, value]): Beside => {
      const to = short(sanitize(String(value)));
      return { verb: `set the ${field} of`, one: `set its ${field} to ${to}`, to };
    });
  const others = follows.flatMap(({ verb, input }) => (verb ? [{ verb, one: `${verb} it` }] : sets(input.body)));
  return [...sets(after), ...others];
}

/** `, then set its status to open`; empty where a row is whole with its own request. */
export function thenOf(planned: Pick<Planned, 'input'>): string {
  const all = besidesOf(planned).map(({ one }) => one);
  return all.length === 0 ? '' : `, then ${listed(all)}`;
}

/** Counts what rows do beside their own requests. */
export function countBesides({ operation }: Plan['row']) {
  const [record = operation.resource] = Object.values(operation.ids ?? {});
  const kinds = new Map<string, { readonly ids: NumberTable; made: number; to: string | undefined }>();
  return {
    add(planned: Planned) {
      for (const { verb, to } of besidesOf(planned)) {
        const kind = kinds.get(verb) ?? { ids: numberTable(), made: 0, to };
        kinds.set(verb, kind);
        if (planned.id === undefined) kind.made++;
        else kind.ids.add(planned.id);
        // A value that not all of them share is not named.
        if (kind.to !== to) kind.to = undefined;
      }
    },
    /** `set the status of 3 tickets to open`, for each kind. */
    all: () =>
      [...kinds].map(([verb, { ids, made, to }]) => {
        const them = `${verb} ${counted(ids.size() + made, resources[record].noun)}`;
        return to === undefined ? them : `${them} to ${to}`;
      }),
  };
}

/** Of the rows that no earlier run has settled, at most so many. */
export async function besidesIn(
  plan: Plan,
  { isSettled, count }: { readonly isSettled: (ref: string) => boolean; readonly count: number },
): Promise<readonly string[]> {
  if (!plan.hasMore || count === 0) return [];
  const besides = countBesides(plan.row);
  let seen = 0;
  for await (const batch of plan.read())
    for (const planned of batch) if (!isSettled(planned.ref) && seen++ < count) besides.add(planned);
  return besides.all();
}
