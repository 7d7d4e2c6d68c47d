import { filledPath } from '../../api/path.ts';
import { type Resource, resources } from '../../api/resources.ts';
import type { Begun, Ending } from '../../audit/audit.ts';
import type { About, RecordNamed } from '../../audit/entry.ts';
import type { Bearer } from '../../auth/session.ts';
import { diskWords } from '../../disk/file/disk-failure.ts';
import { codeOf, Failure, messageOf } from '../../errors.ts';
import { hexDigestOf } from '../../text/digest.ts';
import { type Fields, textIn } from '../../text/record.ts';
import type { Service } from '../exchange/asking.ts';
import { madeIds } from '../exchange/made.ts';
import { numberOf } from '../exchange/numbers.ts';
import { shownIn } from '../exchange/shown.ts';
import { answerIn, type Sending, type Sent } from '../exchange/writes.ts';

/** What an attempt to write needs to leave at all. */
export type Recording = {
  /** Resolves once it is recorded that the request leaves; of all attempts of one request the first one counts. */
  leaves(bearer: Bearer): Promise<void>;
  /** The service refused it with this status; the failure that ends it tells of something else, as of the login. */
  refused(status: number): void;
};

/**
 * Sends a request that writes, and keeps the record of it: an entry before it leaves, what became of it after. All
 * attempts of one request are one entry. Where it cannot be recorded it does not leave.
 */
export async function recorded(
  service: Service,
  sending: Sending,
  send: (recording: Recording) => Promise<Sent>,
): Promise<Sent> {
  const { audit, ctx } = service;
  if (audit === 'off') return send({ leaves: async () => {}, refused: () => {} });
  const record = recordOf(service, sending);
  let begun: Promise<Begun> | undefined;
  const begin = async (bearer: Bearer) => {
    const open = await audit();
    const about = aboutOf(service, sending, { bearer, who: open.who(ctx.origin), record });
    return open.begin(about, sending.wire.body ?? '');
  };
  const leaves = async (bearer: Bearer) => {
    begun ??= begin(bearer);
    await begun;
  };
  const ended = async (ending: Ending) => {
    const entry = await begun?.catch(() => undefined);
    // What is done is done, whether the disk takes it or not.
    await entry?.ended(ending).catch((error: unknown) => {
      ctx.notice(
        `Warning: what became of write ${entry.seq} could not be recorded: ${diskWords[codeOf(error) ?? ''] ?? messageOf(error)}`,
      );
    });
  };
  let refusedWith: number | undefined;
  const refused = (status: number) => {
    refusedWith = status;
  };
  try {
    const sent = await send({ leaves, refused });
    const status = sent.how === 'answered' ? sent.response.status : null;
    await ended({ outcome: 'done', status, ...toldBy(record, sending, sent) });
    return sent;
  } catch (error) {
    const failure = error instanceof Failure ? error : undefined;
    const isUnknown = !failure || failure.isUnsure;
    const told = failure?.status ?? failure?.answer?.status ?? null;
    const status = isUnknown ? told : (refusedWith ?? told);
    await ended({ outcome: isUnknown ? 'unknown' : 'refused', status });
    throw error;
  }
}

type By = Pick<About, 'who' | 'record'> & { readonly bearer: Bearer };

function aboutOf({ ctx, session }: Service, { asked, wire }: Sending, { bearer, who, record }: By): About {
  const { face = 'cli', command = '', draft = null, row } = ctx.origin ?? {};
  return {
    service: session.baseUrl,
    account: session.account?.() ?? null,
    profile: session.from === 'profile' ? session.profile : null,
    credential: bearer.kind,
    face,
    who,
    command,
    operation: asked.id || null,
    method: wire.method,
    path: wire.path.replace(/[?#].*$/u, ''),
    record,
    digest: hexDigestOf(wire.body ?? ''),
    draft,
    ...(row !== undefined && { row }),
  };
}

/** The record that the path names, else the kind of what is made. */
function recordOf(service: Service, { asked: { promised }, wire: { path } }: Sending): RecordNamed | null {
  if (!promised) return null;
  const [named] = Object.entries(promised.ids ?? {});
  if (!named) return { kind: promised.resource, id: null, number: null };
  const [name, kind] = named;
  const pattern = filledPath(promised.path, (each) => (each === name ? '(\\d+)' : '[^/?]+'));
  const id = new RegExp(`^${pattern}(?:\\?|$)`, 'u').exec(path)?.[1];
  const { numberField }: Resource = resources[kind];
  const known = numberOf(service, kind, id);
  const number = numberField === undefined ? null : (service.ctx.origin?.named ?? known ?? null);
  return { kind, id: id === undefined ? null : Number(id), number };
}

/** What the answer tells of the record: the id of a new one, and a ticket's number. */
function toldBy(before: RecordNamed | null, { asked }: Sending, sent: Sent): Pick<Ending, 'record'> {
  const { promised } = asked;
  if (!promised || !before) return {};
  const json = answerIn(sent);
  const [made] = before.id === null ? madeIds(asked, json) : [];
  const number = numberIn(before, shownIn(promised, json)) ?? before.number;
  return { record: { ...before, id: before.id ?? made ?? null, number } };
}

function numberIn({ kind }: RecordNamed, shown: Fields): string | null {
  const { numberField }: Resource = resources[kind];
  return numberField === undefined ? null : (textIn(shown[numberField]) ?? null);
}
