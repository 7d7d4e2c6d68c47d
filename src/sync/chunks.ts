import type * as v from 'valibot';
import type { syncContacts } from '../api/contacts.ts';
import { digestOf } from '../text/digest.ts';
import { emailKey, type Problem, problem, type Row } from './rows.ts';

/** Rows that go out in one request. `number` counts from 0 through the whole file, also after a resume. */
export type Chunk = { readonly number: number; readonly rows: readonly Row[] };

export type SyncAnswer = Pick<v.InferOutput<typeof syncContacts.response>, 'created' | 'updated' | 'errors'>;

/** What the service made of a chunk. `synced` where it does not tell created from updated. */
export type Tally = { readonly created: number; readonly updated: number; readonly synced: number };

export type Outcome = Tally & { readonly problems: readonly Problem[]; readonly unaccounted: number };

/**
 * The largest request body is not described (service.md#requests-3). Common servers refuse more than 1 MB; a chunk of ordinary
 * contacts has 40 KB, so this bound only ever splits what is unusual.
 */
const largestChunk = 700_000;

/** What JSON adds to a row's own characters, about. */
const namesOfFields = 150;

/**
 * Splits rows into chunks, in their order. It depends on nothing but the rows, so that a resumed run cuts where the
 * first one did.
 */
export function createChunker(size: number): { add(row: Row): Chunk | undefined; end(): Chunk | undefined } {
  let number = 0;
  let rows: Row[] = [];
  let weight = 0;
  const take = (): Chunk | undefined => {
    if (rows.length === 0) return undefined;
    const chunk = { number: number++, rows };
    rows = [];
    weight = 0;
    return chunk;
  };
  return {
    add(row) {
      const more = row.size + namesOfFields;
      const full = rows.length === size || weight + more > largestChunk ? take() : undefined;
      rows.push(row);
      weight += more;
      return full;
    },
    end: take,
  };
}

/** What the rows of a chunk say, so that none goes out that was not read and checked before. */
export const digestOfChunk = ({ rows }: Chunk): string =>
  digestOf(JSON.stringify(rows.map(({ line, contact }) => [line, contact])))
    .toString('base64url')
    .slice(0, 22);

/** By what the service may match a row with another one: rows that share a key are never in flight together. */
export type KeysOf = (row: Row) => readonly string[];

/** A service may keep an address in the other form of Unicode, and then these are one. */
export const byEmail: KeysOf = ({ contact }) => [emailKey(contact).normalize('NFC')];

/** create_sync_contacts finds the existing contact by phone or email. */
export const byEmailOrPhone: KeysOf = (row) => {
  const digits = row.contact.phone?.replaceAll(/\D/gu, '').slice(-10) ?? '';
  return digits.length < 5 ? byEmail(row) : [...byEmail(row), `phone ${digits}`];
};

/** The lines of the file that a row stands for. */
const linesOf = (row: Row): readonly number[] => (row.alsoLines ? [row.line, ...row.alsoLines] : [row.line]);

export const lineCount = (chunk: Chunk): number =>
  chunk.rows.reduce((count, row) => count + 1 + (row.alsoLines?.length ?? 0), 0);

/**
 * The answer of syncContacts as outcomes of file lines. `chunk.rows[index]` names the line, never arithmetic. Should
 * the service's counts not add up, the sum of ours still does: what it does not account for counts as unsent.
 */
export function judgeAnswer(chunk: Chunk, answer: SyncAnswer): Outcome {
  const refused = new Map<number, string>();
  for (const { index, error } of answer.errors) if (chunk.rows[index]) refuse(refused, index, error);
  const problems = problemsOf(chunk, refused);
  const accepted = chunk.rows.length - refused.size;
  const created = within(answer.created, accepted);
  const updated = within(answer.updated, accepted - created);
  // Rows that were merged into an accepted one would have been updates of it, had they gone out by themselves.
  const merged = lineCount(chunk) - problems.length - accepted;
  const unaccounted = accepted - created - updated;
  return { created, updated: updated + merged, synced: 0, problems, unaccounted };
}

/** create_sync_contacts counts nothing: what it did not refuse is synced. */
export function judgeSilentAnswer(chunk: Chunk, refused: ReadonlyMap<number, string>): Outcome {
  const problems = problemsOf(chunk, refused);
  return { created: 0, updated: 0, synced: lineCount(chunk) - problems.length, problems, unaccounted: 0 };
}

const within = (count: number, most: number): number => Math.max(0, Math.min(Math.trunc(count) || 0, most));

function problemsOf(chunk: Chunk, refused: ReadonlyMap<number, string>): Problem[] {
  return [...refused]
    .sort(([a], [b]) => a - b)
    .flatMap(([index, error]) => {
      const row = chunk.rows[index];
      return row ? linesOf(row).map((line) => problem(line, row.contact.email, error)) : [];
    });
}

/**
 * Which rows a validation answer speaks of, from field names like `contacts.3.email` or `contacts[3].email`
 * (Errors, shape "validation"), and what it says about each.
 */
export function refusedRows(fields: Readonly<Record<string, readonly string[]>>): Map<number, string> {
  const refused = new Map<number, string>();
  for (const [name, messages] of Object.entries(fields)) {
    const index = /^contacts(?:\.(\d+)|\[(\d+)\])/u.exec(name);
    if (!index) continue;
    const text = messages.map((message) => message.replace(/\.$/u, '')).join('; ');
    refuse(refused, Number(index[1] ?? index[2]), text);
  }
  return refused;
}

/** One row may be refused for several reasons. */
function refuse(refused: Map<number, string>, index: number, why: string): void {
  const before = refused.get(index);
  refused.set(index, before === undefined ? why : `${before}; ${why}`);
}
