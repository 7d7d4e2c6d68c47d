import type { Settings } from '../config/settings.ts';
import type { Context, SendRequest, SendWish } from '../context.ts';
import type { Failure } from '../errors.ts';

/** What all sends of one process share. */
export type Shared = {
  /** In mode `ask` a person said yes to all that follow. */
  isAgreedToAll: boolean;
  /** Questions, holds and drafts of one run come one after the other. */
  turn: Promise<unknown>;
  hasHeld: boolean;
  /** Somebody has interrupted a question or a hold: what waits behind it is not sent either. */
  stopped: Failure | undefined;
  /** Drafts that this process has made. */
  drafted: number;
  /** When a send was counted, for the rule of so many an hour. */
  readonly counted: WeakMap<SendRequest, string>;
  /** When all but that rule began to be looked at, in the clock's ticks. */
  readonly judgedAt: WeakMap<SendRequest, number>;
};

export type Judging = {
  readonly ctx: Context;
  readonly settings: Settings;
  readonly wish: SendWish;
  readonly shared: Shared;
};
