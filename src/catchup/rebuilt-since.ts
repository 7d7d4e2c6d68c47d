import { sign } from '../api/signature.ts';
import { type WebhookEvent, webhookEvents } from '../api/webhooks.ts';
import { textIn } from '../text/record.ts';
import { envelopeOf, happeningIn, isSample, recordOf } from '../webhooks/event/record-key.ts';
import { type Arrival, rebuiltPrefix } from '../webhooks/store/line.ts';
import type { Starts } from '../webhooks/store/starts.ts';
import { type Rebuilt, rebuild } from './rebuild.ts';
import type { Records } from './records.ts';

type CatchUp = {
  readonly starts: Starts;
  readonly records: Records;
  readonly accountId: () => Promise<unknown>;
  /** What the inbox holds: keys of records. */
  readonly held: ReadonlySet<string>;
  /** The service's clock, once it was asked something. */
  readonly serviceNow: () => Date;
  /** Only what the service may have sent until then. Default: until it has given up, two minutes ago. */
  readonly until?: Date;
  /** Of a kind that cannot be read: a module that is off, a scope that is missing. */
  readonly onUnread: (event: WebhookEvent, error: unknown) => void;
};

/** The events that never arrived, oldest first. `young`: what the service may still be sending, the last of it begun at `until`, and for how long. */
export async function rebuiltSince(wanted: CatchUp) {
  const { starts, records, held, onUnread } = wanted;
  const accountId = await wanted.accountId();
  const now = wanted.serviceNow();
  const last = wanted.until?.getTime() ?? now.getTime() - patienceMs;
  // By record: one may come twice, from the copy of the account and from the service.
  const young = new Map<string, number>();
  const found = new Map<string, Rebuilt>();
  for (const [event, since] of starts) {
    try {
      for await (const record of records(event, since)) {
        const made = rebuild(event, record, accountId);
        if (!made || isOver(made, since) || held.has(made.key)) continue;
        const sent = Date.parse(made.sentBefore);
        found.delete(made.key);
        young.delete(made.key);
        if (sent <= last) found.set(made.key, made);
        else if (!wanted.until) young.set(made.key, sent);
      }
    } catch (error) {
      onUnread(event, error);
    }
  }
  const rebuilt = [...found.values()].sort(asTheyHappened);
  const youngest = [...young.values()].reduce((one, other) => Math.max(one, other), 0);
  const forMs = Math.max(0, Math.min(patienceMs, youngest + patienceMs - now.getTime()));
  return { rebuilt, young: { count: young.size, forMs, until: new Date(youngest) } };
}

/** Many times have whole seconds; of one second the id tells which of a kind was first. */
const asTheyHappened = (a: Rebuilt, b: Rebuilt): number =>
  Date.parse(a.at) - Date.parse(b.at) || webhookEvents.indexOf(a.event) - webhookEvents.indexOf(b.event) || a.id - b.id;

/** Whether it was sent before the search begins, as far as its record tells. */
function isOver({ at, sentAfter, sentBefore }: Rebuilt, since: Date): boolean {
  const start = since.getTime();
  return Date.parse(sentBefore) < start || (Date.parse(at) < start && Date.parse(sentAfter) < start);
}

/** The service tries three times, within about 100 seconds (service.md#delivery-2). */
const patienceMs = 120_000;

/** As a delivery that came, signed as the service would have. */
export function arrivalOf({ event, key, body }: Rebuilt, secret: string, at: Date): Arrival {
  const bytes = Buffer.from(body);
  const happening = happeningIn(bytes) ?? null;
  return {
    id: `${rebuiltPrefix}${key}`,
    event,
    at: at.toISOString(),
    headers: {
      'content-type': 'application/json',
      'x-svc-event': event,
      'x-svc-signature': sign(secret, bytes),
      'x-svc-rebuilt': '1',
    },
    body: bytes,
    happening,
  };
}

/** What a view of the inbox gathers: the records that it holds, and when the newest event happened. */
export function createMemory() {
  const held = new Set<string>();
  let latest = Number.NEGATIVE_INFINITY;
  let sampled = Number.POSITIVE_INFINITY;
  return {
    held,
    see(arrival: Arrival): undefined {
      const envelope = envelopeOf(arrival.body);
      const key = recordOf(envelope);
      if (key === undefined) {
        // A search that began at the last sample would leave out what was missed before it.
        if (isSample(envelope)) sampled = Math.min(sampled, Date.parse(arrival.at));
        return;
      }
      held.add(key);
      const at = Date.parse(textIn(envelope.created_at) ?? '');
      // By the service's clock, and never later than it came.
      latest = Math.max(latest, Math.min(Number.isNaN(at) ? Number.POSITIVE_INFINITY : at, Date.parse(arrival.at)));
    },
    /** Undefined where no event was received; with samples alone the first of them, for nothing before it was waited for. */
    latest(): Date | undefined {
      const at = Number.isFinite(latest) ? latest : sampled;
      return Number.isFinite(at) ? new Date(at - overlapMs) : undefined;
    },
  };
}

/**
 * An event may come after one that happened later, as long as the service tries. Twice that and more, for an earlier
 * search that left out what was young may have ended before it looked again.
 */
const overlapMs = 300_000;
