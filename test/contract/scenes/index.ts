import type { Scene } from '../scene.ts';
import { account } from './account.ts';
import { changelog } from './changelog.ts';
import { contacts } from './contacts.ts';
import { conversations } from './conversations.ts';
import { lists } from './lists.ts';
import { calls, events, feedback, meetings, webhooks } from './the-rest.ts';
import { tickets } from './tickets.ts';

export const scenes: readonly Scene[] = [
  ...account,
  ...contacts,
  ...lists,
  ...calls,
  ...tickets,
  ...conversations,
  ...changelog,
  ...feedback,
  ...events,
  ...webhooks,
  ...meetings,
];
