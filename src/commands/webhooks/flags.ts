import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Param } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { parseEvent } from '../../webhooks/deliver/routes.ts';

export const configFlag = param.file('Use the inbox of svc webhooks serve with this configuration');

export const accountFlag = param.text('Of several accounts in that inbox only this one', { placeholder: 'NAME' });

/** The event that a command is about, as its first argument. */
export const eventArg: Param<WebhookEvent> = {
  description: `One of ${webhookEvents.join(', ')}`,
  placeholder: 'EVENT',
  required: true,
  choices: webhookEvents,
  parse: (texts, label) => parseEvent(texts.at(-1) ?? '', label),
};
