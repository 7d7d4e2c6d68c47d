import type { Bearer } from '../../auth/session.ts';
import type { History, Rules } from '../../retry/retry.ts';
import type { Leaves, RequestSpec, Service } from '../exchange/asking.ts';
import type { Wire } from '../exchange/request.ts';
import type { Look } from '../exchange/settle.ts';
import type { Recording } from './recorded.ts';

export type SendOptions = {
  /** How long to wait out rate limits and retries in all; default: --max-wait, else two minutes. */
  readonly maxWaitMs?: number;
  /** An earlier run has sent it, and nobody knows whether it was done. */
  readonly wasSent?: boolean;
  /** For `verify`: finds what an attempt has made whose outcome is not known. */
  readonly look?: Look;
  /** Whether the service shows that a success names another record than ours. */
  readonly contradicts?: (answer: unknown) => Promise<boolean>;
  readonly leaves?: Leaves;
};

/** Of a write: both throw what keeps it from being sent again. */
type Again = {
  /** Whether it may leave now, also where it may be done already. */
  readonly isAllowed: () => Promise<void>;
  /** That too, and whether all is as it was seen: of what was surely refused so far. */
  readonly isAsSeen: () => Promise<void>;
};

/** What a write needs besides: nothing leaves without `recording`. */
export type Written = SendOptions & {
  readonly recording?: Recording;
  readonly again?: Again;
  /** When what is asked again was last looked at, in the clock's ticks. */
  readonly lookedAt?: number;
};

/** What holds for all attempts of one request. */
export type Job = Written & {
  readonly service: Service;
  readonly asked: RequestSpec;
  readonly wire: Wire;
  readonly rules: Rules;
  /** In the clock's ticks. */
  readonly started: number;
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
