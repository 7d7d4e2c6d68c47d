import { whileStill } from '../../command/still-so.ts';
import type { Service } from '../../http/call/call.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Planned } from '../rows/plan.ts';
import type { RowInput } from '../rows/row-input.ts';
import { type Sending, through } from './sending.ts';

/** The input with the fields that are read from the service where the row lacks them. */
export async function complete(sending: Sending, { id, input }: Planned): Promise<RowInput> {
  const { supply } = sending.row;
  const body = fieldsIn(input.body);
  if (!supply || id === undefined || supply.fields.every((field) => field in body)) return input;
  return { ...input, body: { ...(await supply.load(through(sending), id)), ...body } };
}

/** What was read is sent as it was: nobody's new value is taken back. */
export const whileSupplied = (
  service: Service,
  sending: Sending,
  planned: Planned,
  { was, seenAt }: { readonly was: RowInput; readonly seenAt: number },
): Service =>
  whileStill(service, {
    read: () => complete(sending, planned),
    was,
    seenAt,
    what: `Record ${planned.id}`,
    done: 'sent',
  });
