import type { Operation } from '../../api/operation.ts';
import { resources } from '../../api/resources.ts';
import type { Context, HttpResponse } from '../../context.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import type { RequestSpec } from '../exchange/asking.ts';
import { stoppedShort, unknownOutcome } from '../exchange/endings.ts';
import { readerOf } from '../exchange/record.ts';
import { shownIn } from '../exchange/shown.ts';
import { shownOtherwise } from './shown-otherwise.ts';

export type LookAgain = {
  readonly ctx: Context;
  readonly operation: Operation;
  readonly input: { readonly params?: unknown; readonly body?: unknown };
  readonly asked: RequestSpec;
  readonly read: (reading: Operation) => Promise<unknown>;
  /** The record before the update, where its texts must be compared with what was there. */
  readonly was?: Fields;
};

/**
 * Reads the record once whose update was answered with `other` than was sent: whatever stands before the service may have
 * answered with what it has kept. Returns the record as it is where it shows what was sent; else it is not known, exit 9.
 */
export async function lookAgain(about: LookAgain, answer: HttpResponse, other: string): Promise<unknown> {
  const { ctx, operation, input, asked } = about;
  const told = `HTTP ${answer.status}, but the answer shows ${other}`;
  const seen = await seenNow(about);
  if (ctx.signal.aborted) throw stoppedShort(ctx.signal, asked, told);
  if (seen === undefined) throw unknownOutcome(asked, told, { answer });
  const still = shownOtherwise(operation, input.body, seen) ?? (await oldText(about, seen));
  if (still === undefined) return seen;
  const { noun } = resources[operation.resource];
  throw unknownOutcome(asked, `${told}; read again, the ${noun} shows ${still}`, { answer });
}

/** Whether nothing has changed, and the words that are there are not those that were sent. */
async function oldText({ input, was, operation }: LookAgain, seen: unknown): Promise<string | undefined> {
  const { rewrites } = operation;
  if (was === undefined || !rewrites) return undefined;
  const { field, shownAs } = rewrites;
  const now = shownIn(operation, seen);
  if (was[shownAs] !== now[shownAs] || was.updated_at !== now.updated_at) return undefined;
  const { showsContent, showsWords } = await import('../../text/reading.ts');
  const [html, sent] = [String(now[shownAs]), String(fieldsIn(input.body)[field])];
  return showsContent(html, sent) || showsWords(html, sent) ? undefined : `the ${field} of before`;
}

/** The answer to a read of that very record; undefined where there is none. */
async function seenNow({ operation, input, read }: LookAgain): Promise<unknown> {
  const { resource } = operation;
  const reading = readerOf(resource);
  if (!reading) return undefined;
  const json = await read(reading).catch(insteadOf('any', undefined));
  const [asked] = Object.values(fieldsIn(input.params));
  const { idField = 'id' } = resources[resource];
  return shownIn(reading, json)[idField] === asked ? json : undefined;
}
