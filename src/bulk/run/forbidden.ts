import { hearersOf } from '../../api/hearers.ts';
import { Failure } from '../../errors.ts';
import { requireAllowedNow } from '../../http/call/allowed.ts';
import type { Service } from '../../http/call/call.ts';
import { readPolicies } from '../../sends/policy-file.ts';
import type { Plan, Planned } from '../rows/plan.ts';

/** Says of a row what the policy forbids, for a dry run; undefined where no policy holds, or nobody is logged in. */
export async function policyOf(
  { row: { operation } }: Pick<Plan, 'row'>,
  connected: () => Promise<Service>,
): Promise<((planned: Planned) => Promise<Failure | undefined>) | undefined> {
  if (hearersOf(operation) === undefined) return undefined;
  const service = await connected().catch(unless('auth'));
  if (!service) return undefined;
  // One that cannot be read forbids each row.
  const isNone = await readPolicies(service.ctx).then(
    ({ length }) => length === 0,
    () => false,
  );
  if (isNone) return undefined;
  return (planned) =>
    requireAllowedNow(service, operation, planned.input).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof Failure && error.kind === 'policy') return error;
        throw error;
      },
    );
}

const unless = (kind: Failure['kind']) => (error: unknown) => {
  if (error instanceof Failure && error.kind === kind) return undefined;
  throw error;
};
