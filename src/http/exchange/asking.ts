import type { Operation } from '../../api/operation.ts';
import type { ResourceName } from '../../api/resources.ts';
import type { AsRead } from '../../as-read.ts';
import type { Bearer, Session } from '../../auth/session.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context, HttpResponse } from '../../context.ts';
import type { DigestNumbers } from '../../text/digest-numbers.ts';
import type { NumberTable } from '../../text/number-table.ts';
import type { Gate } from './gate.ts';
import type { Promised } from './promised.ts';
import type { Recorder } from './recorder.ts';
import type { ServiceClock } from './service-clock.ts';
import type { Trace } from './trace.ts';

/** What a request needs: the ports, who we are, and the settings of this run. */
export type Service = {
  readonly ctx: Context;
  readonly session: Session;
  readonly settings: Settings;
  readonly gateFor: (bearer: Bearer) => Gate;
  readonly learnt: Learnt;
  readonly audit: Recorder;
  /** An operation that only reads, for what is below `call` itself. It is asked as `service`, which may be a changed copy of this one. */
  readonly read: (service: Service, operation: Operation, params: Readonly<Record<string, number>>) => Promise<unknown>;
  /** How far a long reading is, told while the rate limit makes it wait. */
  readonly waits: Waits;
  /** Told of each attempt to write that may still take effect. */
  readonly onUnsettled?: () => void;
  /** Told of each request that was answered, and not put off: when it left, in the clock's ticks. */
  readonly onAnswered?: (leftAt: number) => void;
  /** Of a write. */
  readonly restsOn?: RestsOn;
  /** Of a write: done each time that it has its turn, before it is asked whether what it rests on was seen too long ago. */
  readonly onTurn?: () => Promise<void>;
  /** With --debug: told of every exchange. */
  readonly trace?: Trace;
};

/** What a write was made of, which may be other by the time it leaves. What is asked throws what keeps it back. */
export type RestsOn = {
  /** A first attempt that comes late after it asks, too. */
  readonly seen: AsRead<unknown>;
  /** Asked before a write that was surely refused so far is sent again, or that had to wait. */
  readonly beforeRepeat?: () => Promise<unknown>;
  /** Asked before a write is sent again that may be done, and at the times of `beforeRepeat` where that is not given: whether it may leave at all. */
  readonly mayLeave?: () => Promise<unknown>;
};

/** `say` is of whoever reads a list at this time. */
export type Waits = { say?: (leftMs: number) => string };

/** What this run has learnt of the service. */
type Learnt = {
  /** What answers at the base URL: the service, or a stranger; undefined where nobody knows yet. */
  address: 'service' | 'stranger' | undefined;
  /** The question for it that is on its way. */
  asking?: Promise<boolean>;
  /** How far its clock was ahead of ours at its last `Date`. It says whether ours can be trusted, and of no record whose it is. */
  clockAheadMs?: number;
  /** The service's clock, by the latest answer that was made just then. */
  serviceClock?: ServiceClock;
  /** Ids that this run has made, by operation and thread, and those that earlier runs have. */
  readonly made: Map<string, NumberTable>;
  /** Ids that are given already, by operation, each with the number of the write that has it. */
  readonly given: Map<string, NumberTable>;
  /**
   * Both of what is known within one thread or ticket alone, and the answers that nobody can look up. One table for all:
   * a table for each of a million tickets would take far more than what stands in them.
   */
  readonly within: DigestNumbers;
  /** The numbers by which people know records, of those that were read last. */
  readonly numbers: Map<string, string>;
  /** The account of the login, once it was asked for. */
  account?: Promise<number | undefined>;
  /** How many writes have asked for ids so far. */
  writes: number;
  /** Its writes that are not over, by what one record could be taken for. */
  readonly open: Map<string, Set<Open>>;
  /** Fields that an answer lacked, by operation, of which this run has told. */
  readonly warned: Set<string>;
};

/**
 * Told of each attempt once nothing holds it up any more, neither the rate limit nor another write. `doubt`: why an
 * earlier one may have done it, if one may.
 */
export type Leaves = (doubt: string | undefined) => void;

/** A write that is not over. `isLookedFor`: its answer was lost. */
export type Open = { isLookedFor: boolean };

/** What sending must know of an operation; `svc api` makes one up for a path that is not in the table. */
export type RequestSpec = Pick<
  Operation,
  | 'id'
  | 'safety'
  | 'effect'
  | 'credentials'
  | 'scope'
  | 'module'
  | 'ownLimit'
  | 'reaches'
  | 'grant'
  | 'deletes'
  | 'makes'
> & {
  /** The record that it is about. */
  readonly about?: { readonly kind: ResourceName; readonly id: number | undefined };
  /** Of a write: what its success shows. */
  readonly promised?: Promised;
  /** Whether an answer is about another record than this very write. */
  readonly showsOther?: (json: unknown, answer: HttpResponse) => boolean;
  /** What an answer shows otherwise than it was sent, as `due_at "2027-01-02T00:00:00Z"`. */
  readonly otherIn?: (json: unknown) => string | undefined;
  /**
   * Of an update: reads the record where the answer shows another value than was sent. Returns what shows that it was
   * done; throws the Failure of exit 9.
   */
  readonly confirmed?: (service: Service, answer: HttpResponse, json: unknown) => Promise<unknown>;
};
