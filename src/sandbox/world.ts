import { randomBytes } from 'node:crypto';
import type { WebhookEvent } from '../api/webhooks.ts';
import { createFaults } from './control/faults.ts';
import { createLog } from './control/log.ts';
import { createDeliveries, type SendOptions } from './deliveries/schedule.ts';
import { matcherOf, openKeys, withHiddenClients } from './keys.ts';
import { createLimiter } from './limits.ts';
import type { SandboxOptions } from './options.ts';
import { service } from './served.ts';
import { seedRows } from './store/seed.ts';
import { deliveryStore, type State, stateOf } from './store/state.ts';

export type World = ReturnType<typeof createWorld>;

/** All that one sandbox holds. */
export function createWorld(options: SandboxOptions) {
  const { stateFile, allowHttpTargets = false, random = randomBytes, keys = openKeys } = options;
  const realNow = options.now ?? (() => new Date());
  let seed = options.seed ?? 'empty';
  const seeded = () => stateOf(seedRows(seed, realNow()));
  const held = { state: withHiddenClients(stateFile?.state ?? seeded(), keys) };
  /** The sandbox's clock, which `POST clock` moves. */
  const now = () => new Date(realNow().getTime() + held.state.clockAheadMs);
  const { keep, keepSoon } = keeperOf(held, stateFile);
  const deliver = () =>
    createDeliveries({
      store: deliveryStore(held, keepSoon),
      now,
      random,
      allowHttpTargets,
      isActive: (id) => held.state.rows.subscriptions.get(id)?.is_active ?? false,
    });

  const world = {
    serves: options.serves ?? service,
    get state(): State {
      return held.state;
    },
    /** Webhooks on their way. A reset replaces them with the state. */
    deliveries: deliver(),
    keys,
    keyMeant: matcherOf(keys),
    limiter: createLimiter(options.rateLimit ?? 'on', options.onCounted),
    log: createLog(options.onRequest),
    faults: createFaults(),
    now,
    random,
    allowHttpTargets,
    /** Shows that a consent form came from this sandbox. */
    formKey: Buffer.from(random(32)).toString('hex'),
    /** Tells subscribers, of one account or of all, and how many there were. */
    emit(event: WebhookEvent, account: number | undefined, data: object, sending?: SendOptions): number {
      options.onEvent?.(event, data);
      let count = 0;
      for (const subscription of held.state.rows.subscriptions.values()) {
        if (!subscription.is_active || subscription.event_type !== event) continue;
        if (account !== undefined && subscription.account_id !== account) continue;
        world.deliveries.send(subscription, event, data, sending);
        count++;
      }
      return count;
    },
    /** As freshly started. */
    async reset(another?: SandboxOptions['seed']): Promise<void> {
      seed = another ?? seed;
      await world.deliveries.stop();
      held.state = withHiddenClients(seeded(), keys);
      world.deliveries = deliver();
      world.limiter.clear();
      world.faults.clear();
      world.log.clear();
    },
    keep,
  };
  world.deliveries.resume();
  return world;
}

/** Writes the state to its file: what changed, or all of it where the file holds another state. */
function keeperOf(held: { readonly state: State }, stateFile: SandboxOptions['stateFile']) {
  let inFile = stateFile?.state;
  let isKeeping = false;

  /** Resolves when all that has changed is in the state file. */
  async function keep(): Promise<void> {
    const { state } = held;
    if (!stateFile) return state.changed.clear();
    if (state === inFile) return stateFile.commit(state);
    inFile = state;
    return stateFile.replace(state);
  }

  /** Deliveries end when no request is there to wait for them. */
  function keepSoon(): void {
    if (isKeeping) return;
    isKeeping = true;
    setImmediate(() => {
      isKeeping = false;
      // The next request has to keep this too, and shows the failure.
      keep().catch(() => {});
    });
  }
  return { keep, keepSoon };
}
