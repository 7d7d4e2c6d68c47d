import { type WebhookEvent, webhookEvents } from '../../api/webhooks.ts';
import type { Wanted } from '../../catchup/rebuilding.ts';
import { defineCommand, type Values } from '../../command/command.ts';
import { flagName, param, withFallback } from '../../command/param.ts';
import { mostSeconds } from '../../config/given-texts.ts';
import { isLoopback } from '../../config/service-url.ts';
import type { Settings } from '../../config/settings.ts';
import { streamForms } from '../../config/stream-forms.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { shellWord } from '../../text/shell-word.ts';
import { parseEvents, parseRoutes, parseTarget } from '../../webhooks/deliver/routes.ts';
import type { Missed } from '../../webhooks/receive/missed.ts';
import { anySecret, givenSecrets, storedSecrets } from '../../webhooks/subscriptions/secrets.ts';
import { subscribing } from '../../webhooks/subscriptions/subscribing.ts';
import { httpsTarget } from './https-target.ts';
import { withPlainNotes } from './plain-notes.ts';

const usualPort = 8977;

/** Of events that are kept. */
const usualLimit = 10_000;

const flags = {
  forwardTo: param.text('Pass the events on to this URL', { placeholder: 'URL' }),
  route: param.texts('Pass one event on to another URL (repeatable)', { placeholder: 'EVENT=URL' }),
  forwardRetry: param.integer('How long to retry while the app is down (default: until it is up)', {
    max: mostSeconds,
    placeholder: 'SECONDS',
  }),
  events: {
    ...param.text('Show, forward and subscribe to only these', { placeholder: 'EVENT,EVENT', commas: true }),
    choices: webhookEvents,
  },
  filter: param.text('Show and forward only events for which this jq filter over the envelope gives true', {
    placeholder: 'JQ',
  }),
  port: withFallback(param.integer('Port to listen on; 0 takes a free one (default 8977)', { max: 65_535 }), usualPort),
  path: param.text('Path to listen on (default: that of --public-url, else /)', { placeholder: 'PATH' }),
  publicUrl: param.text('Subscribe this public URL, which must lead to this port', {
    placeholder: 'URL',
    conflicts: ['tunnel'],
  }),
  tunnel: param.text('Run a tunnel and subscribe its URL: cloudflared, ngrok, or "COMMAND {port}"', {
    placeholder: 'TUNNEL',
  }),
  secretStdin: param.toggle('Read signing secrets from standard input, one a line'),
  inspect: param.toggle('Show the events on a local web page, and open it in the browser'),
  inspectPort: param.integer('Port of that page (default 8978, or a free one)', { max: 65_535 }),
  catchUp: param.toggle('Rebuild the events that never arrived since the last one'),
  inboxLimit: withFallback(
    param.integer('Keep at most N events; the oldest are dropped (default 10000)', { min: 1 }),
    usualLimit,
  ),
};

export const listenToWebhooks = defineCommand({
  name: 'listen',
  summary: "Receive the account's webhooks on this machine and pass them on",
  details:
    'Listens on 127.0.0.1 only. svc verifies each delivery, stores it in the inbox, answers it, and then forwards it, in order. While the ' +
    'app is down svc keeps retrying; the next run forwards what is left when svc ends. A repeat is answered and dropped.\n\n' +
    'With --public-url or --tunnel svc subscribes to the events, and removes its subscriptions when it ends, or at the next start. ' +
    'Without them, deliveries are verified with the secrets of SVC_WEBHOOK_SECRET or --secret-stdin (one a line), else with those stored by ' +
    'svc webhooks create.\n\n' +
    'With --json each event is one line: {kind: "event", time, event, id, verdict, why, created_at, data, forward}; an event that had to ' +
    'wait for the app gets another line once it is through: {kind: "forward", time, event, id, forward}.',
  forms: streamForms,
  flags,
  needs:
    'cloudflared and an OAuth login (svc login) for --tunnel; without it the signing secret, in SVC_WEBHOOK_SECRET',
  examples: [
    'svc webhooks listen --forward-to http://localhost:3000/hooks --tunnel cloudflared',
    'svc webhooks listen --events ticket.created,feedback.created --json',
    `svc webhooks listen --filter '.data.priority >= 3' --forward-to http://localhost:3000/hooks`,
  ],
  async run(outer, { flags, settings }) {
    const ctx = withPlainNotes(outer);
    const routes = {
      events: flags.events === undefined ? undefined : parseEvents(flags.events),
      forwardTo: flags.forwardTo === undefined ? undefined : parseTarget(flags.forwardTo, '--forward-to'),
      byEvent: parseRoutes(flags.route),
    };
    if (flags.filter !== undefined) await (await import('../../output/jq.ts')).checkFilter(flags.filter, ctx.signal);
    const reach = await reachOf(flags.publicUrl, flags.tunnel);
    const account = subscribing(ctx, settings);
    // Before anything starts: without a login for it nothing can be subscribed.
    if (reach) await account.service();
    const given = await givenSecrets(ctx, flags.secretStdin);
    const stored = () => storedSecrets(ctx.tokens, settings.profile);
    const secrets = given.length > 0 ? given : await stored();
    if (secrets.length === 0 && !reach) {
      throw new Failure('usage', 'No signing secret is known, so no delivery could be verified.', {
        hint: `Give --public-url or --tunnel to subscribe, or give --secret-stdin.\n${anySecret}`,
      });
    }
    if (!reach) {
      for (const note of withoutReach(settings.baseUrl, againWith(flags))) ctx.notice(note);
    }
    const [{ listen }, { printer }] = [
      await import('../../webhooks/listen/listen.ts'),
      await import('./event-lines.ts'),
    ];
    const { loginOf } = await import('../../http/call/login-account.ts');
    const { lines, more, summary } = await listen(ctx, {
      profile: settings.profile,
      login: await loginOf(ctx, settings),
      port: flags.port,
      path: flags.path === undefined ? undefined : parsePath(flags.path),
      routes,
      filter: flags.filter,
      ...(flags.catchUp && { missed: await missed(ctx, settings, routes.events) }),
      retryMs: flags.forwardRetry === undefined ? undefined : flags.forwardRetry * 1000,
      timeoutMs: settings.timeoutMs,
      inboxLimit: flags.inboxLimit,
      secrets,
      ...(given.length === 0 && { laterSecrets: stored }),
      reach,
      baseUrl: settings.baseUrl,
      service: account.service,
      storesSecrets: account.storesSecrets,
      inspectPort: flags.inspect || flags.inspectPort !== undefined ? (flags.inspectPort ?? 8978) : undefined,
      opensBrowser: ctx.ask.canAsk && !settings.noInput,
    });
    return { data: { shape: 'stream', records: lines, line: printer(), more }, notes: summary };
  },
});

/** What can deliver to a listener that nothing leads to from elsewhere. */
const withoutReach = (baseUrl: string | undefined, flags: string): readonly string[] =>
  baseUrl !== undefined && isLoopback(baseUrl)
    ? ['There is no tunnel and no public URL, so only a service on this machine can deliver here, such as a sandbox.']
    : [
        'There is no tunnel and no public URL, so the service cannot deliver here.',
        `To let svc open a tunnel: svc webhooks listen${flags} --tunnel cloudflared`,
      ];

/** What was said of the same listener, to be typed again. */
function againWith({ port, route, inspect, catchUp, ...texts }: Values<typeof flags>): string {
  const { path, forwardTo, events, filter, forwardRetry, inspectPort } = texts;
  const inboxLimit = texts.inboxLimit === usualLimit ? undefined : texts.inboxLimit;
  const words = [
    // Port 0 is another one each time.
    ...(port !== usualPort && port !== 0 ? ['--port', String(port)] : []),
    ...Object.entries({ path, forwardTo, forwardRetry, events, filter, inspectPort, inboxLimit }).flatMap(
      ([key, value]) => (value === undefined ? [] : [`--${flagName(key, {})}`, String(value)]),
    ),
    ...route.flatMap((one) => ['--route', one]),
    ...(inspect ? ['--inspect'] : []),
    ...(catchUp ? ['--catch-up'] : []),
  ];
  return words.map((word) => ` ${shellWord(word)}`).join('');
}

async function missed(ctx: Context, settings: Settings, events: readonly WebhookEvent[] | undefined): Promise<Missed> {
  const { missedIn } = await import('../../catchup/missed.ts');
  const { receivedIn } = await import('../../webhooks/store/folder/view.ts');
  const { listenInbox, listenStarts } = await import('../../webhooks/store/listen-inbox.ts');
  const [{ parts }, starts] = [await listenInbox(ctx, settings), await listenStarts(ctx, settings)];
  const seeAll: Wanted['seeAll'] = (see) => receivedIn(parts, see);
  const open = async () => ({ seeAll, starts, close: async () => {} });
  return missedIn(ctx, settings, { open, events, env: () => ['SVC_WEBHOOK_SECRET'] });
}

async function reachOf(publicUrl: string | undefined, tunnel: string | undefined) {
  if (tunnel !== undefined) {
    const { tunnelRecipe } = await import('../../webhooks/subscriptions/tunnel.ts');
    return { tunnel: tunnelRecipe(tunnel) };
  }
  return publicUrl === undefined ? undefined : { publicUrl: httpsTarget('--public-url', publicUrl) };
}

function parsePath(path: string): string {
  if (/^\/[^\s?#]*$/u.test(path)) return new URL(path.replaceAll(/^\/+/gu, '/'), 'http://localhost').pathname;
  throw new Failure('usage', `--path must begin with / and have no query, not "${path}".`);
}
