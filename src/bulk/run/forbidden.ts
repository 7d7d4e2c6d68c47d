import { hearersOf } from '../../api/hearers.ts';
import { Failure } from '../../errors.ts';
import { type Service, withHint } from '../../http/call/call.ts';
import { wireOf } from '../../http/exchange/request.ts';
import { requireAllowed } from '../../http/send/reaching.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { readPolicies } from '../../sends/policy-file.ts';
import type { Plan, Planned } from '../rows/plan.ts';

/** Says of a row what the policy forbids, for a dry run; undefined where no policy holds, or nobody is logged in. */
export async function policyOf(
  { row: { operation } }: Pick<Plan, 'row'>,
  connected: () => Promise<Service>,
): Promise<((planned: Planned) => Promise<Failure | undefined>) | undefined> {
  if (hearersOf(operation) === undefined) return undefined;
  const service = await connected().catch(insteadOf(['auth'], undefined));
  if (!service) return undefined;
  // One that cannot be read forbids each row.
  const isNone = await readPolicies(service.ctx).then(
    ({ length }) => length === 0,
    () => false,
  );
  if (isNone) return undefined;
  return ({ input }) =>
    requireAllowed(
      service,
      withHint(operation, input),
      wireOf(operation, input, { partner: service.settings.partnerSegment }),
    ).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof Failure && error.kind === 'policy') return error;
        throw error;
      },
    );
}
