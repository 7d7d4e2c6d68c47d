import { whileStill } from '../../command/still-so.ts';
import { type Context, withContext } from '../../context.ts';
import { patience, type Service } from '../../http/call/call.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Planned } from '../rows/plan.ts';
import type { RowInput } from '../rows/row-input.ts';
import { type Sending, through } from './sending.ts';

/** What a row sends, and when the fields that were read for it were asked for, in the clock's ticks. */
type Completed = { readonly input: RowInput; readonly seenAt: number };

/** The input with the fields that are read from the service where the row lacks them. */
export async function complete(sending: Sending, { id, input }: Planned): Promise<Completed> {
  const { supply } = sending.row;
  const body = fieldsIn(input.body);
  if (!supply || id === undefined || supply.fields.every((field) => field in body))
    return { input, seenAt: Number.POSITIVE_INFINITY };
  const { service, askedAt } = timed(patient(sending));
  const supplied = await supply.load(service, id);
  return { input: { ...input, body: { ...supplied, ...body } }, seenAt: askedAt() };
}

/** It waits for the limit as long as the row itself does. */
function patient(sending: Sending): Service {
  const service = through(sending);
  return { ...service, settings: { ...service.settings, ...patience(service) } };
}

/** When the first request left that was answered: to wait for the limit before it makes nothing older. */
function timed(service: Service): { readonly service: Service; readonly askedAt: () => number } {
  const { ctx } = service;
  let first = Number.POSITIVE_INFINITY;
  const exchange: Context['exchange'] = async (request) => {
    const left = ctx.clock.ticks();
    const answer = await ctx.exchange(request);
    if ('status' in answer && answer.status !== 429) first = Math.min(first, left);
    return answer;
  };
  return { service: { ...service, ctx: withContext(ctx, { exchange }) }, askedAt: () => first };
}

/** What was read is sent as it was: nobody's new value is taken back. */
export const whileSupplied = (
  service: Service,
  sending: Sending,
  planned: Planned,
  { input: was, seenAt }: Completed,
): Service =>
  whileStill(service, {
    read: async () => (await complete(sending, planned)).input,
    was,
    seenAt,
    what: `Record ${planned.id}`,
    done: 'sent',
  });
