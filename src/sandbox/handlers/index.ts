import { account } from './account.ts';
import { calls } from './calls.ts';
import { changelog } from './changelog.ts';
import { contacts } from './contacts.ts';
import { conversations } from './conversations.ts';
import { events } from './events.ts';
import { feedback } from './feedback.ts';
import type { Handlers } from './handler.ts';
import { lists } from './lists.ts';
import { meetings } from './meetings.ts';
import { tickets } from './tickets.ts';
import { webhooks } from './webhooks.ts';

export const handlers: Handlers = {
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
};
