import { deleteWebhook, listWebhooks } from '../../api/webhooks.ts';
import { heldByProfile, readStored } from '../../auth/credentials.ts';
import { liveLogin } from '../../auth/refresh.ts';
import { sessionWith } from '../../auth/session.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure, isInterruption } from '../../errors.ts';
import { call, connect, type Service } from '../../http/call/call.ts';
import { sanitize } from '../../text/sanitize.ts';
import { forgetSecret } from '../../webhooks/subscriptions/secrets.ts';

/** A logout must not wait long for a service that is away; the revocation says so soon enough. */
const patienceMs = 5_000;

/**
 * Subscriptions belong to the connection that made them: with the login goes the only way to remove them from here. So
 * they are named, and on a terminal svc offers to remove them. --yes does not answer this one: a script that only logs
 * out would stop deliveries.
 */
export async function offerRemoval(ctx: Context, settings: Settings): Promise<void> {
  const service = await asProfile(ctx, settings).catch(ignored);
  if (!service) return;
  const made = await subscriptions(service).catch(ignored);
  if (!made || made.length === 0) return;
  const count = made.length === 1 ? '1 webhook subscription' : `${made.length} webhook subscriptions`;
  const listed = made.map(({ id, event_type, target_url }) => `${id} (${event_type} to ${target_url})`).join(', ');
  ctx.notice(`Profile ${settings.profile} has made ${count}: ${sanitize(listed)}.`);
  const mayAsk = ctx.ask.canAsk && !settings.noInput && !settings.yes;
  if (mayAsk && (await ctx.ask.confirm(`Remove ${made.length === 1 ? 'it' : 'them'} before logging out?`))) {
    for (const { id } of made) {
      await call(service, deleteWebhook, { params: { webhook: id } });
      await forgetSecret(ctx.tokens, settings.profile, id);
    }
    ctx.notice(`Removed ${count}.`);
    return;
  }
  const ids = made.map(({ id }) => id).join(' ');
  const [they, them] = made.length === 1 ? ['it', 'it'] : ['they', 'them'];
  const named = settings.profile === 'default' ? '' : ` --profile ${settings.profile}`;
  ctx.notice(
    `After the logout ${they} may go on delivering, and no later login lists or deletes ${them}: to end that, disconnect the app in the account.\n` +
      `Another time, before the logout: svc webhooks delete ${ids}${named}`,
  );
}

/** The profile's own OAuth login, whatever the environment holds; undefined where it cannot have subscriptions. */
async function asProfile(ctx: Context, settings: Settings): Promise<Service | undefined> {
  const { profile } = settings;
  if (!(await heldByProfile(ctx.tokens)).get(profile)?.includes('oauth')) return undefined;
  const held = await readStored(ctx.tokens, profile, 'oauth');
  if (!held?.scopes.includes('webhooks:manage')) return undefined;
  const login = await liveLogin(ctx, settings);
  if (!login) return undefined;
  const hurried = { ...settings, maxWaitMs: patienceMs, timeoutMs: Math.min(settings.timeoutMs, patienceMs) };
  return connect(ctx, hurried, sessionWith({ kind: 'oauth', token: login.access_token }, settings, login.base_url));
}

const subscriptions = async (service: Service) => (await call(service, listWebhooks, {})).webhooks;

/** Whatever fails here fails the revocation too, which tells it; a person's Ctrl-C still counts. */
function ignored(error: unknown): undefined {
  if (error instanceof Failure && !isInterruption(error)) return undefined;
  throw error;
}
