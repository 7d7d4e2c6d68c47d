import { expect, test } from 'vitest';
import { createWebhook } from '../../src/api/webhooks.ts';
import type { Service } from '../../src/http/call/call.ts';
import { withoutSecret } from '../../src/mcp/subscriptions.ts';

test.each([
  ['nothing that can be read', undefined],
  ['no secret', { id: 7 }],
])('a subscription whose answer holds %s is a failure that says what to delete', async (_, body) => {
  // It fails before it asks anything of the service.
  const service = {} as Service;
  await expect(withoutSecret(service, createWebhook, body)).rejects.toMatchObject({
    name: 'Failure',
    hint: 'Find it with svc webhooks list, and delete it with: svc webhooks delete ID',
  });
});
