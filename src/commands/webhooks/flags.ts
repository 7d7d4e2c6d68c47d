import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Param } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { parseEvent } from '../../webhooks/deliver/routes.ts';

export const configFlag = param.file('Use the inbox of svc webhooks serve with this configuration');

export const accountFlag = param.text('Of several accounts in that inbox only this one', { placeholder: 'NAME' });

/** One of the two can come from there. `body`: `-` is standard input. */
export function refuseBothFromStdin(secretStdin: boolean, body: string | undefined): void {
  if (!secretStdin || body !== '-') return;
  throw new Failure('usage', 'The secret and the body cannot both come from standard input.', {
    hint: 'Give --body FILE, or the secret in SVC_WEBHOOK_SECRET.',
  });
}

/** The event that a command is about, as its first argument. */
export const eventArg: Param<WebhookEvent> = {
  description: `One of ${webhookEvents.join(', ')}`,
  placeholder: 'EVENT',
  required: true,
  choices: webhookEvents,
  parse: (texts, label) => parseEvent(texts.at(-1) ?? '', label),
};
