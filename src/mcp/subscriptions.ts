import type { Operation } from '../api/operation.ts';
import { deleteWebhook } from '../api/webhooks.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { isDone } from '../promise/whether.ts';
import { fieldsIn } from '../text/record.ts';
import { forgetSecret, keepSecret } from '../webhooks/subscriptions/secrets.ts';

/** A new secret has to be kept, and an assistant is no place for it. */
export function refuseWithoutStore(service: Service, operation: Operation): void {
  if (operation.secret === undefined || service.session.from === 'profile') return;
  throw new Failure(
    'forbidden',
    'svc cannot keep the signing secret of a new subscription: the credential comes from the environment, and then nothing is stored.',
    { hint: 'Log in with svc login, and start svc mcp without a credential in the environment.' },
  );
}

/** What an assistant is told of a webhook operation: all but the signing secret, which goes to the store. */
export async function withoutSecret(service: Service, operation: Operation, body: unknown): Promise<unknown> {
  if (operation.secret !== undefined) await keep(service, body);
  if (operation.deletes) return body;
  return JSON.parse(JSON.stringify(body, (key, value) => (key === 'signing_secret' ? undefined : value)));
}

async function keep(service: Service, body: unknown): Promise<void> {
  const { id, signing_secret: secret } = fieldsIn(body);
  if (typeof id !== 'number' || typeof secret !== 'string') {
    throw new Failure('failed', 'The subscription was made, but the answer holds no signing secret to store.', {
      hint: 'Find it with svc webhooks list, and delete it with: svc webhooks delete ID',
    });
  }
  const { ctx, session } = service;
  try {
    await keepSecret(ctx.tokens, session.profile, id, secret);
  } catch (error) {
    // Nobody could verify its deliveries, and the secret cannot be had again.
    const isGone = await isDone(call(service, deleteWebhook, { params: { webhook: id } }));
    const end = isGone ? 'the subscription was deleted again' : `subscription ${id} has to be deleted`;
    throw new Failure('failed', `The signing secret could not be stored, so ${end}.`, { cause: error });
  }
}

/** The secret of a subscription that is no more is of no use. */
export async function forgetDeleted(service: Service, operation: Operation, id: unknown): Promise<void> {
  if (
    operation.resource !== 'subscriptions' ||
    !operation.deletes ||
    typeof id !== 'number' ||
    service.session.from !== 'profile'
  )
    return;
  await forgetSecret(service.ctx.tokens, service.session.profile, id).catch(() => {});
}
