import { syncChunkSize, syncContacts } from '../api/contacts.ts';
import { createAndSyncListContacts } from '../api/lists.ts';
import type { Operation } from '../api/operation.ts';
import { comingFrom } from '../audit/origin.ts';
import { lateCopies } from '../batch/late-copies.ts';
import { withContext } from '../context.ts';
import { Failure, interruption } from '../errors.ts';
import { call, patience, type Service } from '../http/call/call.ts';
import { settleRecord, syncRecord } from '../http/exchange/recorder.ts';
import { firstOf } from '../text/first-of.ts';
import { counted, number } from '../text/number.ts';
import {
  byEmail,
  byEmailOrPhone,
  type Chunk,
  digestOfChunk,
  judgeAnswer,
  judgeSilentAnswer,
  type KeysOf,
  refusedRows,
  type SyncAnswer,
} from './chunks.ts';
import type { Contact } from './mapping.ts';
import type { PhoneHolders } from './phone-holders.ts';
import type { Target } from './run.ts';

/** Into the account: syncContacts. */
export function accountTarget(outer: Service): Target {
  const { serviceFor, wasDone, ...common } = counting(outer, byEmailWithMetadata);
  return {
    chunkSize: syncChunkSize,
    keysOf: byEmail,
    ...common,
    async send(chunk) {
      const service = await serviceFor(chunk);
      const { answer, refused, sent } = await sendWithoutRefused(chunk, (contacts) =>
        call(service, syncContacts, { body: { contacts } }, patience(service)),
      );
      await wasDone(chunk, syncContacts);
      return judgeAnswer(chunk, inChunk(answer, refused, sent));
    },
  };
}

/** Blanks are filled, values kept and tags added, whichever copy comes last; only metadata is overwritten by it. */
const byEmailWithMetadata: KeysOf = (row) => (row.contact.metadata === undefined ? [] : byEmail(row));

/**
 * Into a contact list: create_sync_contacts, which refuses a whole chunk for one bad row, and counts nothing. `holders`: by
 * a phone that somebody else has it would find that person.
 */
export function listTarget(outer: Service, contactList: number, holders: PhoneHolders | undefined): Target {
  const { serviceFor, wasDone, ...common } = counting(outer, byEmailOrPhone);
  return {
    // No limit is shown; what syncContacts allows is known to be handled.
    chunkSize: syncChunkSize,
    keysOf: byEmailOrPhone,
    ...common,
    async send(chunk) {
      const service = await serviceFor(chunk);
      const { refused } = await sendWithoutRefused(chunk, (all) => {
        // Of the shape of a list, so each has a name.
        const contacts = all.map((one) => ({ ...(holders?.withOwnPhone(one) ?? one), name: one.name ?? '' }));
        return call(
          service,
          createAndSyncListContacts,
          { params: { contactList }, body: { contacts } },
          patience(service),
        );
      });
      await wasDone(chunk, createAndSyncListContacts);
      return judgeSilentAnswer(chunk, refused);
    },
  };
}

/** Rows are taken out so often at most. A service that judges rows names all that are bad at once. */
const mostRefusals = 20;

/**
 * Sends the chunk; where the service refuses all of it for some rows (422 with fields like `contacts.3.email`), those
 * are taken out and the rest is sent again. `sent` holds the positions in the chunk of what was taken in the end.
 */
async function sendWithoutRefused<Answer>(chunk: Chunk, send: (contacts: Contact[]) => Promise<Answer>) {
  const refused = new Map<number, string>();
  for (let refusals = 1; ; refusals++) {
    const sent = [...chunk.rows.keys()].filter((index) => !refused.has(index));
    if (sent.length === 0) return { answer: undefined, refused, sent };
    try {
      const answer = await send(sent.flatMap((index) => chunk.rows[index]?.contact ?? []));
      return { answer, refused, sent };
    } catch (failure) {
      if (!(failure instanceof Failure) || failure.status !== 422) throw failure;
      const named = [...refusedRows(failure.fields ?? {})].flatMap(([position, error]) => {
        const index = sent[position];
        return index === undefined ? [] : [[index, error] as const];
      });
      // It was refused as a whole, not for a row: no chunk will fare better.
      if (named.length === 0 || refusals === mostRefusals) {
        const lines = [...refused, ...named].flatMap(([index]) => chunk.rows[index]?.line ?? []);
        throw refused.size === 0 ? failure : refusedAsWhole(failure, { left: sent.length, taken: refused.size, lines });
      }
      for (const [index, error] of named) refused.set(index, error);
    }
  }
}

type Refusals = { readonly left: number; readonly taken: number; readonly lines: readonly number[] };

/** The positions that it names are of the rest, which nobody but svc has seen. What an earlier run sent may be done. */
function refusedAsWhole({ message, fields, status }: Failure, { left, taken, lines }: Refusals): Failure {
  const why = Object.values(fields ?? {}).flat()[0] ?? message;
  return new Failure(
    'rejected',
    `The service refused ${counted(taken, 'row')} of a chunk, and without them the other ${number(left)} too: ${why.replace(/\.$/u, '')}. Nothing of the chunk was done now.`,
    { status, hint: `It named ${lines.length === 1 ? 'line' : 'lines'} ${firstOf(lines, mostRefusals)} of the file.` },
  );
}

/** The answer's positions are those of the request; the judge wants the chunk's. */
function inChunk(
  answer: SyncAnswer | undefined,
  refused: ReadonlyMap<number, string>,
  sent: readonly number[],
): SyncAnswer {
  // Taken, by its status, but the body is something else: what was new and what was not is not known.
  const { created, updated, errors } = answer ?? { created: 0, updated: sent.length, errors: [] };
  return {
    created,
    updated,
    errors: [
      ...[...refused].map(([index, error]) => ({ index, error })),
      ...(Array.isArray(errors) ? errors : []).map((one) => ({
        index: sent[one?.index] ?? -1,
        error: String(one?.error ?? 'refused'),
      })),
    ],
  };
}

/**
 * `overwrites`: what a late copy of a row would put other values on.
 *
 * A first Ctrl-C lets what is in flight be answered, so that it can be written down as done: the signal ends waits
 * (which look at the context's own), not requests.
 */
function counting(service: Service, overwrites: KeysOf) {
  let requests = 0;
  const exchange: Service['ctx']['exchange'] = async (request) => {
    requests++;
    // As durable as the journal, which has said by now that the chunk leaves.
    if (request.method !== 'GET') await syncRecord(service);
    return service.ctx.exchange({ ...request, signal: undefined });
  };
  const reopened = new Set<number>();
  // The rows of a file are accounted for by the run.
  const ctx = withContext(service.ctx, { exchange, writes: undefined });
  const late = lateCopies(ctx, service.settings.settleMs);
  return {
    requests: () => requests,
    wasSent({ number, rows }: Chunk) {
      reopened.add(number);
      late.note(rows.flatMap(overwrites), String(number));
    },
    /** Of a chunk that an earlier run had on its way too: twice is once. */
    async wasDone(chunk: Chunk, operation: Pick<Operation, 'id'>) {
      if (!reopened.delete(chunk.number)) return;
      await settleRecord(service, { row: digestOfChunk(chunk), operation: operation.id, id: null });
    },
    /** For that chunk alone. Waits until no copy of an earlier chunk with the same people can arrive after it. */
    async serviceFor(chunk: Chunk): Promise<Service> {
      const { number, rows } = chunk;
      const keys = rows.flatMap(overwrites);
      if ((await late.pass(keys, String(number))) === 'interrupted') {
        throw interruption(ctx.signal, 'Interrupted while waiting; these rows were not sent.');
      }
      const own = comingFrom(ctx, { row: digestOfChunk(chunk) });
      return { ...service, ctx: own, onUnsettled: () => late.note(keys, String(number)) };
    },
  };
}
