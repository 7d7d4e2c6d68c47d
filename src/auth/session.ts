import type { CredentialKind, Operation } from '../api/operation.ts';

/** A token that goes into `Authorization: Bearer`. */
export type Bearer = {
  readonly kind: CredentialKind;
  readonly token: string;
};

/** Who we are at which service, for the length of one command. */
export type Session = {
  readonly profile: string;
  /** Without a trailing slash; may have a path prefix, which is kept. */
  readonly baseUrl: string;
  /**
   * The credential that the service accepts for this operation: of an API key and an OAuth login the API key.
   * Throws an auth Failure with the command that gets a missing one.
   */
  bearer(operation: Pick<Operation, 'credentials'>): Promise<Bearer>;
  /** After a 401: a token that is not the refused one, or undefined where there is nothing to refresh. */
  renew(refused: Bearer): Promise<Bearer | undefined>;
};
