import { reasonOf } from '../../database/postgres.ts';
import { codeOf, Failure } from '../../errors.ts';

/**
 * The server's own words hold no password.
 *
 * @param wasConnected something may have been done: then it is no `network`, which says that nothing was
 */
export function postgresFailure(place: string, error: unknown, wasConnected: boolean): unknown {
  if (error instanceof Failure) return error;
  const code = codeOf(error) ?? '';
  const said = reasonOf(error);
  // 57P says that the server ends or starts, 08 that the connection is gone; E… comes from the system, as ECONNREFUSED does.
  const isAway = /^(?:57P|08|E[A-Z]{3})/u.test(code);
  if (isAway || /terminated|timeout|ended|closed|connection broke/iu.test(said)) {
    return new Failure(wasConnected ? 'failed' : 'network', `The database ${place} cannot be reached: ${said}.`, {
      hint: 'Is it running? What it holds is not lost.',
      copy: { is: 'out of reach' },
    });
  }
  if (code.startsWith('28') || /password|SASL/iu.test(said)) {
    return new Failure('auth', `The database ${place} refuses the login: ${said}.`, {
      hint: 'Give the password in PGPASSWORD, in .pgpass, or in the URL of SVC_MIRROR_DB.',
    });
  }
  if (code.startsWith('53')) {
    return new Failure('failed', `The database ${place} is full: ${said}.`, {
      hint: 'What it holds is not lost.',
      copy: { is: 'out of reach' },
    });
  }
  if (code === '42501') {
    return new Failure('forbidden', `The database ${place} does not allow it: ${said}.`, {
      hint: 'To pull, give in --db the URL of the role that owns the copy, which needs CREATE and TEMPORARY on the database. A role that only reads it is for queries.',
    });
  }
  return new Failure('usage', `The database refused this: ${said}.`, { hint: 'To see its tables: svc mirror schema' });
}
