import type { Bearer } from '../../auth/session.ts';
import type { History, Rules } from '../../retry/retry.ts';
import type { Leaves, RequestSpec, Service } from '../exchange/asking.ts';
import type { Wire } from '../exchange/request.ts';
import type { Look } from '../exchange/settle.ts';
import type { Recording } from './recorded.ts';

/** Of a write: both throw what keeps it from being sent again. */
type Again = {
  /** Whether it may leave now, also where it may be done already. */
  readonly isAllowed: () => Promise<void>;
  /** That too, and whether all is as it was seen: of what was surely refused so far. */
  readonly isAsSeen: () => Promise<void>;
};

/** What holds for all attempts of one request. */
export type Job = {
  readonly service: Service;
  readonly asked: RequestSpec;
  readonly wire: Wire;
  readonly rules: Rules;
  readonly look: Look | undefined;
  readonly contradicts: ((answer: unknown) => Promise<boolean>) | undefined;
  /** Of a write: nothing leaves without it. */
  readonly recording: Recording | undefined;
  readonly again: Again | undefined;
  readonly leaves: Leaves | undefined;
  /** In the clock's ticks. */
  readonly started: number;
  /** When what is asked again was last looked at. */
  readonly lookedAt: number;
};

/** How far a request has come. */
export type State = {
  readonly bearer: Bearer;
  readonly history: History;
  /** What became of the latest attempt that the service may have acted on, in a few words. */
  readonly doubt: string | undefined;
  /** A copy of it may still arrive. */
  readonly mayArrive: boolean;
};
