import type { Clock, Context } from '../../context.ts';
import type { idInInbox } from '../event/account.ts';
import type { Envelope } from '../event/envelope.ts';
import type { Arrival } from '../store/line.ts';
import type { Refusing } from '../store/recovery.ts';
import type { Refusal } from './judge.ts';
import type { Limits } from './limits.ts';
import { connectionsAtMost, defaultConnections } from './listening.ts';

/** What the receiver decided about one request to its path. */
export type Receipt = { readonly account?: string } & (
  | { readonly kind: 'accepted'; readonly arrival: Arrival; readonly envelope: Envelope }
  | { readonly kind: 'unreadable'; readonly arrival: Arrival; readonly why: string }
  | { readonly kind: 'repeat'; readonly at: string; readonly envelope: Envelope }
  | { readonly kind: 'rejected'; readonly at: string; readonly why: Refusal; readonly event: string | null }
);

/** Where deliveries come in: what comes there is signed with one of these secrets, and is this account's. */
export type Door = { readonly path: string; readonly secrets: readonly string[]; readonly account?: string };

export type ReceiverOptions = {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  /** What to do where the port cannot be had. */
  readonly portHint?: string;
  /** How many connections may be open at once. Default: 512, and fewer where the system gives fewer files. */
  readonly maxConnections?: () => number;
  /** Asked for each request: a tunnel and its subscriptions come while the receiver stands. No secret opens another's path. */
  readonly doors: () => readonly Door[];
  /** The id in the inbox. Default: as in one that may be of several accounts. */
  readonly idIn?: typeof idInInbox;
  /** Asked where no secret fits, and then `doors` once more. False: it is not known which secrets there are. */
  readonly readSecrets?: () => Promise<boolean>;
  /** `add` may resolve to `repeat`: several instances share an inbox. */
  readonly inbox: { has(id: string): boolean; add(arrival: Arrival): Promise<void> | Promise<'stored' | 'repeat'> };
  readonly clock: Clock;
  /** Whose deliveries are taken, as far as they tell it; undefined: whoever has the secret. */
  readonly account?: number;
  /** An id for a delivery that has none. */
  readonly newId: () => string;
  readonly forwardTo?: (event: string | null) => string | undefined;
  readonly sinksFor?: (event: string | null, account: string | undefined) => readonly string[];
  /** What it sends itself has this mark (`own-mark.ts`), and is not taken: it would count as delivered, and be lost. */
  readonly mark?: string;
  /** After the answer. */
  readonly onReceipt: (receipt: Receipt) => void;
  /** The inbox could not be written; told once until it can be again, or `over` is called. */
  readonly onProblem?: (error: unknown, refusing: Refusing) => void;
  /** Shorter in tests. */
  readonly limits?: Partial<Limits>;
};

/** For a delivery whose id cannot be read. */
export const unreadableId = ({ random }: Pick<Context, 'random'>): string =>
  `unreadable_${Buffer.from(random(6)).toString('hex')}`;

export const mostConnections = ({ maxConnections }: ReceiverOptions): number =>
  connectionsAtMost(maxConnections?.() ?? defaultConnections);

/** The door at that path, as it is now. */
export const doorAt = ({ doors }: ReceiverOptions, path: string): Door | undefined =>
  doors().find((door) => door.path === path);
