import { getChangelogEntry } from '../api/changelog.ts';
import type { Operation } from '../api/operation.ts';
import { flagFor } from '../derive/grants.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';

const hint = `Start svc mcp with ${flagFor.write} ${flagFor.send}.`;

/** Without the grant to send: what the public would see is refused before anything is sent. */
export async function refusePublishing(
  service: Service,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
) {
  if (operation.reachesCustomer !== 'when-published') return;
  if (input.status === 'published') throw new Failure('forbidden', 'Publishing was not granted.', { hint });
  if (typeof input.id !== 'number') return;
  // A published entry is read by the public, so that each change of it is publishing too.
  const { entry } = await call(service, getChangelogEntry, { params: { id: input.id } });
  if (entry.status !== 'draft') {
    throw new Failure('forbidden', `Entry ${input.id} is published; changing what the public reads was not granted.`, {
      hint,
    });
  }
}
