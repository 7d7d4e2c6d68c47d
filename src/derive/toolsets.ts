import type { ResourceName } from '../api/resources.ts';
import { Failure } from '../errors.ts';

/** The toolset of each kind of record, in the order in which they are named. */
export const toolsetOf = {
  contacts: 'contacts',
  lists: 'lists',
  tickets: 'tickets',
  conversations: 'conversations',
  calls: 'calls',
  changelog: 'changelog',
  feedback: 'feedback',
  roadmap_columns: 'feedback',
  events: 'events',
  subscriptions: 'webhooks',
  meetings: 'meetings',
  accounts: 'account',
} as const satisfies Readonly<Record<ResourceName, string>>;

/** Names by which a person narrows the tools to some kinds of records (docs/mcp.md). */
export type Toolset = (typeof toolsetOf)[ResourceName] | 'copy';

export const toolsets: readonly Toolset[] = [...new Set(Object.values(toolsetOf)), 'copy'];

/** Throws a usage Failure that names those that there are. */
export function toolsetNamed(name: string): Toolset {
  const found = toolsets.find((each) => each === name);
  if (found) return found;
  throw new Failure('usage', `--toolsets: there is no toolset ${name}.`, { hint: `There are ${toolsets.join(', ')}.` });
}
