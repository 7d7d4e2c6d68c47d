import { ownedBy } from '../event/account.ts';
import type { ServeConfig, SinkConfig } from './config-schema.ts';

/**
 * The queues of the configuration, each with its sink. What came before there were several accounts is in the queue that
 * is the sink's alone, and goes on there.
 */
export function queuesOf({ accounts = [], sinks }: ServeConfig): ReadonlyMap<string, SinkConfig> {
  const owners = [undefined, ...accounts.map(({ name }) => name)];
  return new Map(owners.flatMap((owner) => sinks.map((sink) => [ownedBy(owner, sink.name), sink] as const)));
}

/** The queues that an event goes to. What has no known event goes to the sinks that take every event. */
export const queuesFor = ({ sinks }: ServeConfig, event: string | null, account: string | undefined): string[] =>
  sinks
    .filter(({ events }) => events === undefined || events.some((each) => each === event))
    .map(({ name }) => ownedBy(account, name));
