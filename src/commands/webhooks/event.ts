import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Param } from '../../command/command.ts';
import { parseEvent } from '../../webhooks/deliver/routes.ts';

/** The event that a command is about, as its first argument. */
export const eventArg: Param<WebhookEvent> = {
  description: `One of ${webhookEvents.join(', ')}`,
  placeholder: 'EVENT',
  required: true,
  choices: webhookEvents,
  parse: (texts, label) => parseEvent(texts.at(-1) ?? '', label),
};
