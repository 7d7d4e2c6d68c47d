import { createHash } from 'node:crypto';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { webhookEvents } from '../../api/webhooks.ts';
import { readIfThere } from '../../disk/file/atomic-file.ts';
import { messageOf } from '../../errors.ts';
import { before } from '../../promise/aborted.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { Arrival } from '../store/line.ts';
import { type Opening, type Sink, single } from './sink.ts';

type About = Pick<Opening, 'name' | 'timeoutMs' | 'repeatsMs' | 'notice'> & {
  /** `nats://host:port`, `tls://host:port` or `host:port`. */
  readonly servers: readonly string[];
  /** `{event}` stands for the event, `{account}` for the account, which is `_` where there is one alone. */
  readonly subject: string;
  /** The path of a file that NATS made. */
  readonly credentials?: string;
  readonly stream?: { readonly name: string; readonly create: boolean };
};

/** What the server compares to know a repeat: the envelope's id, or a digest where that fits into no header. */
export function messageId(id: string): string {
  if (/^[\x21-\x7d]{1,200}$/u.test(id)) return id;
  return `~${createHash('sha256').update(JSON.stringify(id)).digest('base64url')}`;
}

/** A name that svc does not know is one token, so that no delivery chooses where it goes. */
export function subjectOf(template: string, event: string | null, account = '_'): string {
  const known = webhookEvents.find((one) => one === event);
  const token = known ?? ((event ?? 'unknown').slice(0, 64).replace(/[^A-Za-z0-9_-]/gu, '_') || 'unknown');
  return template.replaceAll('{event}', () => token).replaceAll('{account}', () => account);
}

/** Every subject that a template can become. */
export function subjectsOf(template: string): string {
  const at = template.indexOf('{');
  return at < 0 ? template : `${template.slice(0, at)}>`;
}

/** At least so long a stream that svc makes knows a repeat. */
const leastWindowMs = 24 * 3_600_000;
const windowLookMs = 2_000;

type Connected = { readonly connection: NatsConnection; readonly stream: JetStreamClient };

/** NATS JetStream: only the acknowledgement of the server counts, and it drops what it has already by the message id. */
export function natsSink(about: About): Sink {
  const { name, timeoutMs } = about;
  let connected: Promise<Connected> | undefined;
  let isReady = false;
  let judging: Promise<void> | undefined;
  const connection = async (): Promise<Connected> => {
    for (;;) {
      connected ??= connect(about);
      const asked = connected;
      // Lanes ask at once: whoever comes first gives it up, and the others take what comes in its place.
      const giveUp = () => {
        if (connected === asked) connected = undefined;
        isReady = false;
      };
      const found = await asked.catch((error) => {
        giveUp();
        throw error;
      });
      if (!found.connection.isClosed()) return found;
      giveUp();
    }
  };
  const publish = async ({ id, account, event, body }: Arrival): Promise<void> => {
    const { connection: to, stream } = await connection();
    if (!isReady) await makeStream(to, about);
    isReady = true;
    const subject = subjectOf(about.subject, event, account);
    const expect = about.stream && { streamName: about.stream.name };
    await stream.publish(subject, body, {
      msgID: messageId(id),
      timeout: timeoutMs,
      ...(expect && { expect }),
    });
    // Nothing waits for it, for whoever may write to a stream need not be allowed to read about it.
    judging ??= tellShortWindow(to, about, subject).catch(() => {});
  };
  const sink = single(name, async (event, cut) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      await before(AbortSignal.any([cut, timeout]), publish(event));
      return { how: 'taken' };
    } catch (error) {
      isReady = false;
      if (cut.aborted) return { how: 'cut' };
      return { how: 'refused', error: timeout.aborted ? 'timeout' : whyOf(about, event, error).slice(0, 200) };
    }
  });
  return {
    ...sink,
    async close() {
      const last = await connected?.catch(() => undefined);
      await judging;
      await last?.connection.close();
    },
  };
}

async function connect({ servers, credentials, timeoutMs }: About): Promise<Connected> {
  const { connect: open, credsAuthenticator } = await import('@nats-io/transport-node');
  const { jetstream } = await import('@nats-io/jetstream');
  const key = credentials === undefined ? undefined : await readIfThere(credentials);
  if (credentials !== undefined && key === undefined)
    throw new Error(`the credentials file ${credentials} is not there`);
  const connection = await open({
    servers: servers.map((server) => server.replace(/^\w+:\/\//u, '')),
    name: 'svc',
    timeout: Math.min(timeoutMs, 10_000),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    ...(servers.some((server) => server.startsWith('tls://')) && { tls: {} }),
    ...(key !== undefined && { authenticator: credsAuthenticator(Buffer.from(key)) }),
  });
  return { connection, stream: jetstream(connection, { timeout: timeoutMs }) };
}

async function makeStream(connection: NatsConnection, { stream, subject, repeatsMs }: About): Promise<void> {
  if (!stream?.create) return;
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const { streams } = await jetstreamManager(connection);
  const found = await streams.info(stream.name).catch((error: unknown) => {
    if (!/not found/iu.test(messageOf(error))) throw error;
    return undefined;
  });
  if (found) return;
  const windowMs = Math.max(leastWindowMs, repeatsMs);
  await streams.add({ name: stream.name, subjects: [subjectsOf(subject)], duplicate_window: windowMs * 1e6 });
}

/** Beyond its window the server takes an event for a new one that it has already. */
async function tellShortWindow(connection: NatsConnection, about: About, subject: string): Promise<void> {
  const { jetstreamManager } = await import('@nats-io/jetstream');
  const { streams } = await jetstreamManager(connection, { checkAPI: false, timeout: windowLookMs });
  const stream = about.stream?.name ?? (await streams.find(subject));
  const windowMs = (await streams.info(stream)).config.duplicate_window / 1e6;
  if (windowMs >= about.repeatsMs) return;
  const [window, repeats, named] = [span(windowMs), span(about.repeatsMs), shellWord(stream)];
  about.notice(
    `${about.name}: the stream ${stream} knows a repeat for ${window} only, and svc tries an event again for ${repeats}: after a lost acknowledgement it may be there twice. To change that: nats stream edit ${named} --dupe-window=${repeats}`,
  );
}

const units = [
  [3_600_000, 'h'],
  [60_000, 'm'],
] as const;

/** As the tools of NATS take it: `24h`, `2m`, `90s`. */
function span(ms: number): string {
  const [size, unit] = units.find(([each]) => ms % each === 0) ?? [1_000, 's'];
  return `${ms / size}${unit}`;
}

function whyOf({ stream, subject }: About, { event, account }: Arrival, error: unknown): string {
  const said = messageOf(error);
  const which = stream ? `the stream ${stream.name}` : 'a stream';
  // The server tells no missing stream from a JetStream that is off: nobody answers.
  if (/no responders|503|not enabled/iu.test(said)) {
    return `nobody takes ${subjectOf(subject, event, account)}: ${which} for it is not there, or JetStream is off`;
  }
  if (/max_payload/iu.test(said))
    return 'it is larger than the server takes with its headers: raise max_payload in the configuration of nats-server';
  return /stream/iu.test(said) ? `${which} did not take it: ${said}` : said;
}
