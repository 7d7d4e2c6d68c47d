import type { Context } from '../../context.ts';
import type { Login } from '../../http/call/login-account.ts';
import type { Routes } from '../deliver/routes.ts';
import type { Missed } from '../receive/missed.ts';
import type { Receiver } from '../receive/receiver.ts';
import type { Slot } from '../store/folder/slot.ts';
import type { Subscribing } from '../subscriptions/subscriptions.ts';
import type { Tunnel, TunnelRecipe } from '../subscriptions/tunnel.ts';
import type { Forwarder } from './forwarder.ts';
import type { Reporter } from './report.ts';

export type ListenOptions = {
  readonly profile: string;
  readonly login?: Login;
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
  slot?: Slot;
  forwarder?: Forwarder;
  receiver?: Receiver;
  inspector?: { close(): Promise<void> };
  tunnel?: Tunnel;
  requests?: { end(): Promise<void> };
  catchingUp?: { end(): Promise<void> };
  /** What the filter still looks at. */
  judging?: Promise<void>;
};

/** Whether an event is shown and forwarded. Never rejects. */
export type Passes = (id: string, body: Uint8Array) => Promise<boolean>;

/** What every step of starting needs. */
export type ListenContext = {
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
