import { sign } from '../../api/signature.ts';
import { defineCommand } from '../../command/command.ts';
import { param, withFallback } from '../../command/param.ts';
import type { Lost } from '../../context.ts';
import { readUserBytes } from '../../disk/place/user-file.ts';
import { Failure, interruption } from '../../errors.ts';
import { loginAccount } from '../../http/call/login-account.ts';
import { isLoopbackHost } from '../../text/loopback.ts';
import { fieldsIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { parseTarget } from '../../webhooks/deliver/routes.ts';
import { samplePrefix } from '../../webhooks/event/record-key.ts';
import { anySecret, givenSecrets, storedSecrets } from '../../webhooks/subscriptions/secrets.ts';
import { eventArg, refuseBothFromStdin } from './flags.ts';

export const triggerWebhook = defineCommand({
  name: 'trigger',
  summary: 'Send a correctly signed sample delivery to a URL',
  details:
    'Signed with the secret of --secret-stdin or SVC_WEBHOOK_SECRET, else with the newest one stored by svc webhooks create. ' +
    'The service is not involved. With --set, a text field takes text; other fields take JSON. A field that the event does not have is sent too, and svc says so.\n\n' +
    "The sample's id begins with evt_sample_, so svc webhooks catch-up does not take it for the real event of that record. With --set id=evt_1 or --body it does.",
  args: {
    event: eventArg,
  },
  flags: {
    to: withFallback(
      param.text('Where to send it (default: http://127.0.0.1:8977/)', { placeholder: 'URL' }),
      'http://127.0.0.1:8977/',
    ),
    set: param.pairs('Change a field of the sample: data.subject=Hello, id=evt_1 (repeatable)', {
      placeholder: 'FIELD=VALUE',
    }),
    body: param.file('Send exactly these bytes instead of a sample; - is standard input', { conflicts: ['set'] }),
    secretStdin: param.toggle('Read the signing secret from standard input'),
  },
  needs: 'an app that listens there',
  examples: [
    'SVC_WEBHOOK_SECRET=sample svc webhooks trigger ticket.created --to http://localhost:3000/hooks',
    'SVC_WEBHOOK_SECRET=sample svc webhooks trigger conversation.message_received --set data.body=Hello',
  ],
  async run(ctx, { args, flags, settings }) {
    const to = parseTarget(flags.to, '--to');
    refuseBothFromStdin(flags.secretStdin, flags.body);
    const given = await givenSecrets(ctx, flags.secretStdin);
    const [secret] = given.length > 0 ? given : await storedSecrets(ctx.tokens, settings.profile);
    if (secret === undefined) {
      throw new Failure('usage', 'No signing secret is known.', {
        hint: `${anySecret}\nElse give --secret-stdin, or subscribe with svc webhooks create.`,
      });
    }
    const { newFields, sampleEnvelope, withValues } = await import('../../webhooks/event/samples.ts');
    const id = `${samplePrefix}${Buffer.from(ctx.random(12)).toString('hex')}`;
    // A listener that knows the secret by its login takes what is of that login's account.
    const account = given.length > 0 ? undefined : await loginAccount(ctx, settings);
    const envelope = sampleEnvelope(args.event, id, ctx.clock.now(), account);
    const sample = () => JSON.stringify(withValues(envelope, flags.set));
    const body = flags.body === undefined ? Buffer.from(sample()) : await readUserBytes(ctx, flags.body, '--body');
    const signature = sign(secret, body);
    const start = ctx.clock.ticks();
    const answer = await ctx.exchange({
      method: 'POST',
      url: to,
      headers: { 'content-type': 'application/json', 'x-svc-event': args.event, 'x-svc-signature': signature },
      body,
      timeoutMs: settings.timeoutMs,
      signal: ctx.signal,
    });
    if ('lost' in answer) throw lostFailure(new URL(to), answer, ctx.signal);
    const ms = Math.round(ctx.clock.ticks() - start);
    const { status } = answer;
    const good = status >= 200 && status < 300;
    const sent = flags.body === undefined ? sampleId(body) : null;
    return {
      data: { shape: 'record', record: { event: args.event, id: sent, to, status, ms, signature } },
      human: ({ paint }) => `${args.event} → ${to}: ${paint(good ? 'green' : 'red', String(status))} in ${ms} ms`,
      notes: [
        ...(flags.body === undefined ? newFields(envelope, Object.keys(flags.set)) : []).map(
          ({ path, near }) =>
            `${args.event} has no field ${sanitize(path)}; the sample was sent with it.${near === undefined ? '' : ` Did you mean ${near}?`}`,
        ),
        ...(good ? [] : [`The receiver answered ${status}.`, ...adviceFor(status)]),
      ],
      outcome: good ? undefined : 'failed',
    };
  },
});

/** What a receiver most often means by it. */
const adviceFor = (status: number): readonly string[] => {
  if (status === 401 || status === 403)
    return ['It may have another signing secret: give its own in SVC_WEBHOOK_SECRET, or with --secret-stdin.'];
  if (status === 404 || status === 405) return ['It may listen on another path: name its whole URL with --to.'];
  return [];
};

/** What can receive a delivery on this machine, beside the app itself. */
function receiverFor({ protocol, hostname, port, pathname }: URL): string | undefined {
  if (protocol !== 'http:' || !isLoopbackHost(hostname)) return undefined;
  const path = pathname === '/' ? '' : ` --path ${shellWord(pathname)}`;
  return `Start your app there, or receive it with: svc webhooks listen --port ${port || '80'}${path}`;
}

/** Only what never left was surely not delivered; an answer that svc cannot use says that it was. */
function lostFailure(url: URL, { lost, reason, detail }: Lost, signal: AbortSignal): Failure {
  const { origin } = url;
  const isSent = lost === 'after-sending';
  const unknown = `${origin} may or may not have got the delivery`;
  if (signal.aborted) return interruption(signal, isSent ? `Interrupted. ${unknown}.` : undefined);
  if (!isSent) return new Failure('network', `${origin} could not be reached: ${detail}`, { hint: receiverFor(url) });
  if (reason === 'too-large' || reason === 'unreadable' || reason === 'truncated')
    return new Failure('failed', `${origin} got the delivery, but svc cannot use its answer: ${detail}`);
  return new Failure('unknown', `${unknown}: ${detail}`, {
    hint: 'Look at what it received before you send it again.',
  });
}

/** After --set, which may have given another. */
const sampleId = (body: Uint8Array): unknown => fieldsIn(JSON.parse(Buffer.from(body).toString('utf8'))).id;
