import type { WebhookEvent } from '../api/webhooks.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { type Bucket, generalLimit } from './limits.ts';
import { type Kind, kinds } from './store/records.ts';
import type { Snapshot } from './store/state.ts';

export type RecordChange = {
  readonly kind: Kind;
  readonly id: string | number;
  readonly change: 'created' | 'updated' | 'deleted';
  readonly before: Fields | null;
  readonly after: Fields | null;
};

/** What a command did to a sandbox; as `--diff-out FILE` has it. */
export type Comparison = {
  readonly changes: readonly RecordChange[];
  /** What would go out to whoever subscribes to the event. */
  readonly webhooks: readonly { readonly event: WebhookEvent; readonly data: object }[];
  readonly requests: number;
  /** How many whole minutes the real limits would make the command wait, at least. */
  readonly minutes: number;
};

/** No records of the account: how the sandbox lets somebody in, and what it sends. */
const ownKinds: readonly Kind[] = ['clients', 'connections', 'deliveries'];

export function createComparing() {
  const webhooks: Comparison['webhooks'][number][] = [];
  const counts = new Map<string, { readonly limit: number; count: number }>();
  let requests = 0;
  return {
    watches: {
      onEvent: (event: WebhookEvent, data: object) => webhooks.push({ event, data }),
      onCounted(buckets: readonly Bucket[]): void {
        requests++;
        for (const { key, limit } of buckets) {
          const counted = counts.get(key) ?? { limit, count: 0 };
          counted.count++;
          counts.set(key, counted);
        }
      },
    },
    compare: (before: Snapshot, after: Snapshot): Comparison => ({
      changes: kinds.filter((kind) => !ownKinds.includes(kind)).flatMap((kind) => changesOf(kind, before, after)),
      webhooks,
      requests,
      minutes: Math.max(0, ...[...counts.values()].map(({ limit, count }) => minutesFor(count, limit))),
    }),
  };
}

/** The first minute's share goes at once, and each further one when its minute begins. */
const minutesFor = (count: number, limit: number = generalLimit): number => Math.max(0, Math.ceil(count / limit) - 1);

const none: ReadonlyMap<string | number, object> = new Map();

function changesOf(kind: Kind, before: Snapshot, after: Snapshot): RecordChange[] {
  const changes: RecordChange[] = [];
  const [old, now] = [before.get(kind) ?? none, after.get(kind) ?? none];
  for (const [id, row] of now) {
    const was = old.get(id);
    if (!was) changes.push({ kind, id, change: 'created', before: null, after: shown(row) });
    else if (was !== row && JSON.stringify(was) !== JSON.stringify(row)) {
      changes.push({ kind, id, change: 'updated', before: shown(was), after: shown(row) });
    }
  }
  for (const [id, was] of old) {
    if (!now.has(id)) changes.push({ kind, id, change: 'deleted', before: shown(was), after: null });
  }
  return changes;
}

/** A secret is shown once, by the command that makes it. */
function shown(row: object): Fields {
  const { signing_secret: secret, ...fields } = fieldsIn(row);
  return secret === undefined ? fields : { ...fields, signing_secret: '[redacted]' };
}
