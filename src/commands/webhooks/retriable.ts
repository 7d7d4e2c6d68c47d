import { Failure } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { DeadId } from '../../webhooks/store/folder/requests.ts';

type Retriable = { readonly ids: readonly DeadId[]; readonly notes: readonly string[] };

/**
 * Those that a sink of the configuration takes, and a sentence about the rest, which would wait for ever. Throws a usage
 * Failure where there are only such. `sinks`: the names of the configuration; undefined where none is known.
 */
export function retriable(dead: readonly DeadId[], sinks: readonly string[] | undefined): Retriable {
  const ids = sinks === undefined ? dead : dead.filter(({ sink }) => sinks.includes(sink));
  const left = dead.length - ids.length;
  if (left === 0) return { ids, notes: [] };
  const gone = [...new Set(dead.filter((one) => !ids.includes(one)).map(({ sink }) => sanitize(sink)))].join(', ');
  const named = `The configuration does not name ${gone} any more`;
  const known = `Sinks: ${sinks?.join(', ')}.`;
  if (ids.length > 0) return { ids, notes: [`${named}, so ${counted(left, 'dead letter')} stayed. ${known}`] };
  throw new Failure('usage', `${named}, so nobody would deliver what is sent there again.`, {
    hint: `${known} To deliver it, name the sink in the configuration again; to give it up: svc webhooks dead drop`,
  });
}
