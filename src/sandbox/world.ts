import { randomBytes } from 'node:crypto';
import type { WebhookEvent } from '../api/webhooks.ts';
import { createFaults, type Faults } from './control/faults.ts';
import { createLog, type Log } from './control/log.ts';
import { createDeliveries, type Deliveries, type SendOptions } from './deliveries/schedule.ts';
import { createLimiter, type Limiter } from './limits.ts';
import type { SandboxOptions } from './options.ts';
import { type Served, service } from './served.ts';
import { seedRows } from './store/seed.ts';
import { deliveryStore, type State, stateOf } from './store/state.ts';

/** All that one sandbox holds. */
export type World = {
  readonly serves: Served;
  state: State;
  /** Webhooks on their way; of the present state, like all else. */
  deliveries: Deliveries;
  readonly limiter: Limiter;
  readonly log: Log;
  readonly faults: Faults;
  /** The sandbox's clock, which `POST clock` moves. */
  readonly now: () => Date;
  readonly random: (bytes: number) => Uint8Array;
  readonly allowHttpTargets: boolean;
  /** Shows that a consent form came from this sandbox. */
  readonly formKey: string;
  /** Tells subscribers, of one account or of all, and how many there were. */
  readonly emit: (event: WebhookEvent, account: number | undefined, data: object, options?: SendOptions) => number;
  /** As freshly started. */
  readonly reset: (seed?: SandboxOptions['seed']) => Promise<void>;
  /** Resolves when all that has changed is in the state file. */
  readonly keep: () => Promise<void>;
};

export function createWorld(options: SandboxOptions): World {
  const { stateFile, allowHttpTargets = false, random = randomBytes } = options;
  const realNow = options.now ?? (() => new Date());
  let seed = options.seed ?? 'empty';
  /** The state is wholly another than the one in the file. */
  let isReplaced = stateFile !== undefined && stateFile.state === undefined;
  let isKeeping = false;

  const world: World = {
    serves: options.serves ?? service,
    state: stateFile?.state ?? stateOf(seedRows(seed, realNow())),
    deliveries: undefined as unknown as Deliveries,
    limiter: createLimiter(options.rateLimit ?? 'on'),
    log: createLog(options.onRequest),
    faults: createFaults(),
    now: () => new Date(realNow().getTime() + world.state.clockAheadMs),
    random,
    allowHttpTargets,
    formKey: Buffer.from(random(32)).toString('hex'),
    emit(event, account, data, sending) {
      let count = 0;
      for (const subscription of world.state.rows.subscriptions.values()) {
        if (!subscription.is_active || subscription.event_type !== event) continue;
        if (account !== undefined && subscription.account_id !== account) continue;
        world.deliveries.send(subscription, event, data, sending);
        count++;
      }
      return count;
    },
    async reset(another) {
      seed = another ?? seed;
      await world.deliveries.stop();
      world.state = stateOf(seedRows(seed, realNow()));
      isReplaced = true;
      world.deliveries = deliver();
      world.limiter.clear();
      world.faults.clear();
      world.log.clear();
    },
    async keep() {
      const { state } = world;
      if (!stateFile) return state.changed.clear();
      if (!isReplaced) return stateFile.commit(state);
      isReplaced = false;
      return stateFile.replace(state);
    },
  };

  /** Deliveries end when no request is there to wait for them. */
  function keepSoon(): void {
    if (isKeeping) return;
    isKeeping = true;
    setImmediate(() => {
      isKeeping = false;
      // A failure shows in the next request, which has to keep this too.
      world.keep().catch(() => {});
    });
  }

  const deliver = () =>
    createDeliveries({
      store: deliveryStore(world, keepSoon),
      now: world.now,
      random,
      allowHttpTargets,
      isActive: (id) => world.state.rows.subscriptions.get(id)?.is_active ?? false,
    });
  world.deliveries = deliver();
  world.deliveries.resume();
  return world;
}
