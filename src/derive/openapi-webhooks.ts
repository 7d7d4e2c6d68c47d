import type { Schema } from '../api/operation.ts';
import { type WebhookEvent, webhookData, webhookEvents } from '../api/webhooks.ts';
import type { JsonSchema } from './json-schema.ts';
import { requestExample } from './openapi-examples.ts';

const emittedWhen: Readonly<Record<WebhookEvent, string>> = {
  'contact.created': 'A contact was added, by any route',
  'call.completed': 'An AI call finished',
  'ticket.created': 'A ticket was created from email, chat, form or the API',
  'conversation.message_received': 'A customer wrote in a chat conversation',
  'changelog.published': 'An entry was created as published, or moved from draft to published',
  'feedback.created': 'A customer posted on the feedback board',
};

const rules =
  'Check the signature over the raw body before you parse it, and compare in constant time. Answer with any 2xx within ' +
  '10 seconds. A failed connection is tried again, at most three attempts in total; a non-2xx answer is not. Deliveries ' +
  'can repeat and arrive out of order: de-duplicate on the id of the envelope.';

/** The six deliveries that a subscriber receives (service.md#webhooks-4). */
export const webhooks = (schemaOf: (schema: Schema) => JsonSchema) =>
  Object.fromEntries(
    webhookEvents.map((event) => [
      event,
      {
        post: {
          operationId: `on.${event}`,
          tags: ['Events and webhooks'],
          summary: emittedWhen[event],
          description: rules,
          // Deliveries carry no credential: the signature says who sends.
          security: [],
          parameters: [
            header('X-SVC-Event', 'Name of the event', { const: event }),
            header('X-SVC-Signature', 'Hex HMAC-SHA256 of the raw request body, keyed with the signing secret', {
              pattern: '^[0-9a-f]{64}$',
            }),
          ],
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: envelope(event, schemaOf(webhookData[event])),
                ...requestExample(`on.${event}`),
              },
            },
          },
          responses: { '2XX': { description: 'Received' } },
        },
      },
    ]),
  );

const header = (name: string, description: string, text: JsonSchema) => ({
  ...{ name, in: 'header', required: true, description },
  schema: { type: 'string', ...text },
});

const envelope = (event: WebhookEvent, data: JsonSchema) => ({
  type: 'object',
  properties: {
    event: { type: 'string', const: event, description: 'Name of the event' },
    id: { type: 'string', description: 'Unique per delivery' },
    created_at: { type: 'string', format: 'date-time', description: 'With an offset' },
    data: { description: 'What happened', ...data },
  },
  required: ['event', 'id', 'created_at', 'data'],
});
