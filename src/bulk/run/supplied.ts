import { asRead } from '../../as-read.ts';
import type { RowOf } from '../../command/row.ts';
import { whileStill } from '../../command/still-so.ts';
import { patience, type Service } from '../../http/call/call.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Planned } from '../rows/plan.ts';

/**
 * What a row sends, and by which service. Fields that the row lacks are read from the service, and sent as they were:
 * nobody's new value is taken back.
 */
export async function supplied(service: Service, { supply }: RowOf, { id, input }: Planned) {
  const body = fieldsIn(input.body);
  if (!supply || id === undefined || supply.fields.every((field) => field in body)) return { input, sender: service };
  const read = async (reading: Service) => ({
    ...input,
    body: { ...(await supply.load(patient(reading), id)), ...body },
  });
  const seen = await asRead(service, read);
  return { input: seen.was, sender: whileStill(service, { read, seen, what: `Record ${id}`, done: 'sent' }) };
}

/** It waits for the limit as long as the row itself does. */
const patient = (service: Service): Service => ({
  ...service,
  settings: { ...service.settings, ...patience(service) },
});
