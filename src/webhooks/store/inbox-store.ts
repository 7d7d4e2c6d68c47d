import type { OnDamage } from './folder/file.ts';
import type { Received } from './folder/look-up.ts';
import type { DeadId, Replayed } from './folder/requests.ts';
import type { Asked, Found, Seen, View } from './folder/view.ts';
import type { Added, Arrival, Outcome } from './line.ts';
import type { StartStore } from './starts.ts';

/**
 * The inbox of `serve`: deliveries that were accepted, and for each sink those that wait for it. `folder/` and
 * `postgres/` are the two there are; the same tests run on both.
 */
export type InboxStore = {
  /** For messages; without a password. */
  readonly place: string;
  /** Other instances may work on the same inbox. */
  readonly isShared: boolean;
  /** Fires once another instance has the inbox as a whole; `reason` says who. */
  readonly lost: AbortSignal;
  /** Known to be there already; false where that is not known yet. */
  has(id: string): boolean;
  /**
   * Resolves once the delivery is durable, or was there before; rejects where it could not be stored. A live event that
   * was rebuilt already was there before, and the other way round.
   */
  add(arrival: Arrival): Promise<Added>;
  /**
   * What waits for the sink, oldest first. Undefined while another instance has the sink: no two have it at once.
   * `held` fires when this instance may not deliver to it any more, which `mayDeliver` makes sure of. Those with an id of
   * `except` are passed over. All of them are as they stood at one moment: none came before one that is not among them.
   */
  take(sink: string, most: number, except?: ReadonlySet<string>): Promise<Taken | undefined>;
  /** What became of a delivery to a sink. */
  settle(sink: string, settled: readonly Settled[]): Promise<void>;
  /** Lets another instance have the sink. */
  leave(sink: string): Promise<void>;
  /** How many wait and how many are dead, by sink; also sinks that the configuration no longer names. */
  counts(): Promise<ReadonlyMap<string, Counts>>;
  /** Rejects where nothing can be written now. */
  probe(): Promise<void>;
  /** Deletes the oldest that nobody waits for, down to the limit. */
  trim(): Promise<void>;
  /** Lets other instances have the sinks, and lets go of everything. */
  close(): Promise<void>;
};

/** `tries`: earlier ones. `since`: when it began to wait, ISO 8601. */
export type Waiting = { readonly arrival: Arrival; readonly tries: number; readonly since: string };

/** `lost`: what the inbox surely does not hold any more. */
export type Taken = {
  readonly waiting: readonly Waiting[];
  readonly lost?: readonly Settled[];
  readonly held: AbortSignal;
  /** Asked right before each delivery. */
  mayDeliver(): boolean;
  /** Whether somebody settled it meanwhile, where the inbox knows that at once. */
  waits?(id: string): boolean;
};

/** `failed`: it is tried again. `again`: a dead one that waits once more. `skipped`: its filter did not want it. */
type SinkState = NonNullable<Outcome['state']>;

export type Settled = { readonly id: string; readonly outcome: Outcome & { readonly state: SinkState } };

export type Counts = { readonly waiting: number; readonly dead: number };

/** What the commands ask of an inbox, whether or not `serve` runs. */
export type InboxAdmin = {
  readonly place: string;
  /** What is kept, oldest first, from the newest back as far as is asked: of each delivery what `view` makes of it. */
  newest<T>(view: View<T>, asked: Asked): Promise<Found<T>>;
  /** The dead letters alone, oldest first. */
  dead<T>(view: View<T>, onDamage?: OnDamage): Promise<readonly Seen<T>[]>;
  /** Those whose whole id it is, in any order. */
  find(ids: readonly string[]): Promise<readonly Received[]>;
  /** Puts dead ones back at the end of their queues, or gives them up for good. How many: others may do the same at once. */
  move(ids: readonly DeadId[], state: 'again' | 'dropped'): Promise<number>;
  /** Ends what still waits for the `to` of its outcome, or is dead there. For each whether it did; undefined where an older svc has the inbox. */
  settle(replayed: readonly Replayed[]): Promise<readonly boolean[] | undefined>;
  /** Stores deliveries for their sinks; `serve` finds them there. */
  addAll(arrivals: readonly Arrival[]): Promise<readonly Added[]>;
  /** From when on what never arrived is still searched for. */
  readonly starts: StartStore;
  /** Deletes everything. */
  purge(): Promise<void>;
  close(): Promise<void>;
};
