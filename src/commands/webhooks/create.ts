import { createWebhook } from '../../api/webhooks.ts';
import { defineCommand } from '../../command/command.ts';
import { rowOf } from '../../command/row.ts';
import { messageOf } from '../../errors.ts';
import { call, connect } from '../../http/call/call.ts';
import { message } from '../../text/layout.ts';
import { sanitize } from '../../text/sanitize.ts';
import { keepSecret } from '../../webhooks/subscriptions/secrets.ts';
import { eventArg } from './flags.ts';
import { httpsTarget, withSandboxAdvice } from './https-target.ts';

export const createWebhookSubscription = defineCommand({
  name: 'create',
  summary: createWebhook.summary,
  details:
    'Prints the signing secret, which the service shows this once, and stores it for svc webhooks listen, serve, trigger and catch-up. ' +
    'With a credential from the environment nothing is stored.\nNeeds an OAuth login: the service refuses API keys here.',
  args: {
    event: eventArg,
    url: {
      description: 'Where the service delivers: an https:// URL',
      placeholder: 'URL',
      required: true,
      parse: (texts: readonly string[]) => httpsTarget('URL', texts.at(-1) ?? ''),
    },
  },
  row: rowOf(createWebhook, { places: { event: 'event_type', url: 'target_url' } }),
  examples: ['svc webhooks create ticket.created https://example.com/hooks'],
  async run(ctx, { args, settings }) {
    const service = await connect(ctx, settings);
    const body = { event_type: args.event, target_url: args.url };
    const made = await call(service, createWebhook, { body }).catch((error: unknown) => {
      throw withSandboxAdvice(args.url, error);
    });
    if (!made?.id || !made.signing_secret) {
      const note = 'The answer lacks the signing secret: delete the subscription and create it again.';
      return { data: { shape: 'record', record: made ?? {} }, notes: [note, 'To find its id: svc webhooks list'] };
    }
    const notes = ['The signing secret is not shown again.'];
    if (service.session.from === 'profile') {
      try {
        await keepSecret(ctx.tokens, settings.profile, made.id, made.signing_secret);
        notes.push('It is stored for svc webhooks listen, serve, trigger and catch-up.');
      } catch (error) {
        // The secret must still reach the user: it cannot be had again.
        notes.push(`It could not be stored: ${messageOf(error)}`);
      }
    }
    const head = `Subscribed ${args.url} to ${args.event} (subscription ${made.id}).`;
    return {
      data: { shape: 'record', record: made },
      human: ({ paint, width }) =>
        `${paint('green', '✓')} ${message(sanitize(head), width - 2).replaceAll('\n', '\n  ')}\nSigning secret: ${sanitize(made.signing_secret)}`,
      notes,
    };
  },
});
