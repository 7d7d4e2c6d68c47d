import type { Input, Operation, Output } from '../api/operation.ts';
import { openSession, type Session } from '../auth/session.ts';
import type { Context } from '../context.ts';
import type { Settings } from '../settings.ts';
import { createGate, type Gate } from './gate.ts';
import { wireOf } from './request.ts';
import { surprises } from './response.ts';
import { type SendOptions, type Service, send } from './send.ts';
import { sharedHold } from './shared-hold.ts';

export type { Service } from './send.ts';

/** Opens the service as whoever the settings name, or `as`. Nothing is sent yet. Throws usage and auth Failures. */
export async function connect(ctx: Context, settings: Settings, as?: Session): Promise<Service> {
  const session = as ?? (await openSession(await traced(ctx, settings), settings));
  const gates = new Map<string, Gate>();
  return {
    ctx,
    session,
    settings,
    gateFor({ token }) {
      const gate = gates.get(token) ?? createGate(ctx, sharedHold(ctx, session.baseUrl, token));
      gates.set(token, gate);
      return gate;
    },
    trace: settings.debug ? (await import('./trace.ts')).traceTo(ctx.notice) : undefined,
  };
}

/** The context for exchanges that do not go through `send`, the OAuth endpoints': --debug shows them too. */
export async function traced(ctx: Context, { debug }: Pick<Settings, 'debug'>): Promise<Context> {
  if (!debug) return ctx;
  const { tracedExchange } = await import('./trace.ts');
  return Object.create(ctx, { exchange: { value: tracedExchange(ctx) } }) as Context;
}

/**
 * One operation, done: the parsed body of its successful answer. Throws the Failure that product.md's exit codes name;
 * `unknown` only where looking could not tell. An answer without promised fields is returned with a warning.
 */
export async function call<const Op extends Operation>(
  service: Service,
  operation: Op,
  input: Input<Op>,
  options: Pick<SendOptions, 'maxWaitMs'> = {},
): Promise<Output<Op>> {
  const wire = wireOf(operation, input, service.settings.partnerSegment);
  const look = operation.safety === 'verify' ? await prepareLook(service, operation, input) : undefined;
  const sent = await send(service, operation, wire, { ...options, look });
  if (sent.how === 'gone') return {} as Output<Op>;
  const missing = surprises(operation, sent.json);
  if (missing.length > 0) {
    service.ctx.notice(`Warning: the answer to ${operation.id} lacks or changes ${missing.slice(0, 5).join(', ')}.`);
  }
  return sent.json as Output<Op>;
}

async function prepareLook<Op extends Operation>(service: Service, operation: Op, input: Input<Op>) {
  const { lookFor } = await import('./read-back.ts');
  return lookFor(service, operation.id, input);
}
