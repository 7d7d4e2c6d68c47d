import type { Context } from '../context.ts';
import type { Seat } from './inbox/seat.ts';
import type { Missed } from './rebuild/missed.ts';
import type { Receiver } from './receiving/receiver.ts';
import type { Reporter } from './report.ts';
import type { Forwarder } from './sinks/forward.ts';
import type { Routes } from './sinks/routes.ts';
import type { Subscribing } from './subscriptions/subscriptions.ts';
import type { Tunnel, TunnelRecipe } from './subscriptions/tunnel.ts';

export type ListenOptions = {
  readonly profile: string;
  readonly port: number;
  readonly path?: string;
  readonly routes: Routes;
  readonly retryMs?: number;
  readonly timeoutMs: number;
  readonly inboxLimit: number;
  /** jq over the envelope: only events that give true are shown and forwarded. */
  readonly filter?: string;
  /** Beside those of our own subscriptions. */
  readonly secrets: readonly string[];
  /** Those that are stored by now, where no others were given. */
  readonly laterSecrets?: () => Promise<readonly string[]>;
  readonly reach?: { readonly publicUrl: string } | { readonly tunnel: TunnelRecipe };
  /** Undefined where no service is known; then there can be nothing to subscribe or to clean up. */
  readonly baseUrl?: string;
  /** The account's subscriptions; rejects where there is no login for them. */
  readonly service: () => Promise<Subscribing>;
  /** False with a credential of the environment: then nothing is stored. */
  readonly storesSecrets: boolean;
  /** Rebuilds what never arrived. */
  readonly missed?: Missed;
  readonly inspectPort?: number;
  /** Somebody sits here. */
  readonly opensBrowser?: boolean;
};

/** Everything that runs, as far as it came up. */
export type Running = {
  seat?: Seat;
  forwarder?: Forwarder;
  receiver?: Receiver;
  inspector?: { close(): Promise<void> };
  tunnel?: Tunnel;
  orders?: { end(): Promise<void> };
  catchingUp?: { end(): Promise<void> };
  /** What the filter still looks at. */
  judging?: Promise<void>;
};

/** Whether an event is shown and forwarded. Never rejects. */
export type Passes = (id: string, body: Uint8Array) => Promise<boolean>;

/** What every step of coming up needs. */
export type Coming = {
  readonly ctx: Context;
  readonly options: ListenOptions;
  readonly running: Running;
  readonly reporter: Reporter;
  /** Ours first known once we have subscribed. */
  readonly secrets: string[];
  /** The path of the URL that the service knows us by, once there is one. */
  pathOfUrl: string;
  readonly filter: Passes | undefined;
  /** Of what it passes on. */
  readonly mark: string;
};
