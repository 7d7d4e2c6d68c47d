import { Failure } from '../../errors.ts';
import { fieldsIn } from '../../text/record.ts';

/**
 * Whether a reading failed at what was asked for alone, and others may be read all the same. Of a login, a limit, a connection
 * and what is not the service, that is not said.
 */
export function isOfOne(reason: unknown): reason is Failure {
  if (!(reason instanceof Failure) || reason.isStranger) return false;
  const { kind, status, cause } = reason;
  if (kind === 'partial' || kind === 'forbidden' || kind === 'rejected') return true;
  return (kind === 'failed' && status !== undefined) || fieldsIn(cause).lost === 'after-sending';
}
