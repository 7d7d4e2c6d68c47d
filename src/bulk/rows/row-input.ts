import type { Input, Operation } from '../../api/operation.ts';
import type { FollowStep } from '../../command/follow.ts';
import type { Body } from '../../command/row.ts';

/** The person of a row, as the row has them. */
export type Requester = { readonly email: string } & Readonly<Record<string, unknown>>;

/** What a row of the file becomes: the request that makes or changes its record, and what belongs to it besides. */
export type RowInput = Input<Operation> & {
  /** Set by a second request, once the record is there. */
  readonly after?: Body;
  /** What follows once the row's own request is surely done. */
  readonly follows?: readonly FollowStep[];
  /** The contact that the record is about, which may have to be made first. */
  readonly requester?: Requester;
};
