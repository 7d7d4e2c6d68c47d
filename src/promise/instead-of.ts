import { Failure, type FailureKind } from '../errors.ts';

/** For `catch`: the value in place of a Failure of such a kind. Whatever else was thrown is thrown on. */
export const insteadOf =
  <T>(kinds: 'any' | readonly FailureKind[], value: T) =>
  (error: unknown): T => {
    if (error instanceof Failure && (kinds === 'any' || kinds.includes(error.kind))) return value;
    throw error;
  };
