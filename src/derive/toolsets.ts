import type { ResourceName } from '../api/resources.ts';
import { Failure } from '../errors.ts';

/** Names by which a person narrows the tools to some kinds of records (docs/mcp.md). */
export const toolsets = [
  'contacts',
  'lists',
  'tickets',
  'conversations',
  'calls',
  'changelog',
  'feedback',
  'events',
  'webhooks',
  'meetings',
  'account',
  'copy',
] as const;

export type Toolset = (typeof toolsets)[number];

export const toolsetOf: Readonly<Record<ResourceName, Toolset>> = {
  accounts: 'account',
  contacts: 'contacts',
  lists: 'lists',
  calls: 'calls',
  tickets: 'tickets',
  conversations: 'conversations',
  changelog: 'changelog',
  feedback: 'feedback',
  roadmap_columns: 'feedback',
  events: 'events',
  subscriptions: 'webhooks',
  meetings: 'meetings',
};

/** Throws a usage Failure that names those that there are. */
export function toolsetNamed(name: string): Toolset {
  const found = toolsets.find((each) => each === name);
  if (found) return found;
  throw new Failure('usage', `--toolsets: there is no toolset ${name}.`, { hint: `There are ${toolsets.join(', ')}.` });
}
