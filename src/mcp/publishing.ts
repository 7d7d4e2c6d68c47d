import type { Operation } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { flagFor } from '../derive/grants.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';
import { readRecord } from '../http/record.ts';

const hint = `Start svc mcp with ${flagFor.write} ${flagFor.send}.`;

/** Without the grant to send: what the public would see is refused before anything is sent. */
export async function refusePublishing(
  service: Service,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
) {
  if (operation.reaches !== 'public') return;
  if (input.status === 'published') throw new Failure('forbidden', 'Publishing was not granted.', { hint });
  const id = input[Object.keys(operation.ids ?? {})[0] ?? ''];
  if (typeof id !== 'number') return;
  // What is published is read by the public, so that each change of it is publishing too.
  if ((await statusOf(service, operation, id)) === 'draft') return;
  const name = resources[operation.resource].noun.split(' ').at(-1) ?? '';
  throw new Failure(
    'forbidden',
    `${name.slice(0, 1).toUpperCase()}${name.slice(1)} ${id} is published; changing what the public reads was not granted.`,
    { hint },
  );
}

/** Undefined where the service does not say: that is no draft. */
async function statusOf(service: Service, { resource }: Operation, id: number): Promise<unknown> {
  const read = await readRecord((reading, params) => call(service, reading, { params }), resource, id);
  return read?.record?.status;
}
