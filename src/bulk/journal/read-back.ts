import type { Operation } from '../../api/operation.ts';
import { Failure, isInterruption } from '../../errors.ts';
import { type CallOptions, call, type Service } from '../../http/call/call.ts';
import { readRecord } from '../../http/exchange/record.ts';
import { type Before, largestOf } from '../../http/look/before.ts';
import { largestOf as largestIn } from './lines.ts';

/** The record that a row has written, as it is now; undefined where the service shows no single one of its kind. */
export async function readBack(
  service: Service,
  { resource }: Operation,
  id: number | undefined,
  options: CallOptions,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const read = await readRecord((reading, params) => call(service, reading, { params }, options), resource, id);
  return read?.record;
}

/**
 * What was there, with the newest that earlier runs made: a list may come from a store that does not have it yet. A service
 * that was reset has it no more.
 */
export async function withOurNewest(
  first: Before | undefined,
  own: Iterable<number>,
  read: (id: number) => Promise<unknown>,
): Promise<Before | undefined> {
  const newest = largestIn(own);
  if (!first || newest <= largestOf(first)) return first;
  const record = await read(newest).catch((error) => {
    if (error instanceof Failure && !isInterruption(error)) return undefined;
    throw error;
  });
  return record ? { ...first, ids: [...first.ids, newest] } : first;
}
