import { check, type FieldErrors } from '../api/check.ts';
import { SyncContact, syncChunkSize, syncContacts } from '../api/contacts.ts';
import { closed, jsonSchemaOf } from '../derive/json-schema.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { withoutClaim } from '../http/send/whole.ts';
import { type Chunk, createChunker } from '../sync/chunks.ts';
import type { Report } from '../sync/report.ts';
import type { Problem, Row } from '../sync/rows.ts';
import { accountTarget } from '../sync/targets.ts';
import { counted, number } from '../text/number.ts';
import { fieldsIn } from '../text/record.ts';
import { answer } from './answer.ts';
import { firstItems, room } from './bounds.ts';
import { invalid, refuseUnknown, type Tell, type Tool } from './tool.ts';
import { unknownIn } from './unknown.ts';

type Counts = { readonly created: number; readonly updated: number };

/** More rows than an assistant writes by hand; a file goes through `svc contacts sync`. */
const mostRows = 2000;

const rowSchema = closed(jsonSchemaOf(SyncContact));

/**
 * Rows into the account with the report of `svc contacts sync`; `line` is the row's number, from 1. A row that the
 * service would refuse never goes out, and never stops the rest. What was not answered any more counts as unsent, and as
 * unknown where it had left. `stopped`: why it ended before the last row.
 */
async function syncRows(service: Service, rows: readonly unknown[], tell: Tell) {
  const began = service.ctx.clock.ticks();
  const target = accountTarget(service);
  const { sendable, problems } = judged(rows);
  const chunks = inChunks(sendable);
  const report = { created: 0, updated: 0, chunks: 0 };
  let stopped: Failure | undefined;
  let unknown = 0;
  for (const chunk of chunks) {
    try {
      const outcome = await target.send(chunk);
      report.created += outcome.created;
      report.updated += outcome.updated;
      report.chunks++;
      problems.push(...outcome.problems);
      const done = report.created + report.updated + problems.length;
      tell(done, rows.length, `${number(done)} of ${counted(rows.length, 'row')} done`);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      stopped = error;
      if (error.isUnsure) unknown = chunk.rows.length;
      break;
    }
  }
  // Nothing has been done yet: then it is a failure like any other.
  if (stopped && report.chunks === 0) throw stopped;
  const { created, updated } = report;
  const sums: Report & Counts = {
    file: 'rows',
    rows: rows.length,
    created,
    updated,
    rejected: problems.length,
    unsent: rows.length - created - updated - problems.length,
    unknown,
    chunks: report.chunks,
    requests: target.requests(),
    resumed_rows: 0,
    duration_ms: Math.round(service.ctx.clock.ticks() - began),
    errors: problems.sort((a, b) => a.line - b.line),
  };
  return { report: sums, stopped };
}

function judged(rows: readonly unknown[]): { sendable: Row[]; problems: Problem[] } {
  const sendable: Row[] = [];
  const problems: Problem[] = [];
  rows.forEach((row, index) => {
    const line = index + 1;
    const checked = check(SyncContact, row);
    const unknown = unknownIn(rowSchema, row);
    if (checked.ok && Object.keys(unknown).length === 0) {
      const contact = checked.value;
      sendable.push({ line, contact, size: JSON.stringify(contact).length, phone: 'fine' });
    } else {
      const email = fieldsIn(row).email;
      problems.push({
        line,
        email: typeof email === 'string' ? email : '',
        error: inWords({ ...unknown, ...(checked.ok ? {} : checked.fields) }),
      });
    }
  });
  return { sendable, problems };
}

const inWords = (fields: FieldErrors): string =>
  Object.entries(fields)
    .flatMap(([field, messages]) => messages.map((message) => (field ? `${field} ${message}` : message)))
    .join('; ');

function inChunks(rows: readonly Row[]): Chunk[] {
  const chunker = createChunker(syncChunkSize);
  return [...rows.map((row) => chunker.add(row)), chunker.end()].filter((chunk) => chunk !== undefined);
}

function nextSteps({ rejected, unknown, unsent }: Report, stopped: Failure | undefined): string[] {
  const steps = rejected > 0 ? ['Fix the rows that `errors` names and send only those again.'] : [];
  if (!stopped) return steps;
  const facts = unsent > unknown ? [`The ${unknown > 0 ? 'other ' : ''}unsent rows were not done.`] : [];
  return [
    `It stopped half-way: ${withoutClaim(stopped.message)}`,
    ...facts,
    'Sending them again does no harm.',
    ...steps,
  ];
}

/** Bad rows that are named; the rest is counted. */
const mostErrors = 50;

/** What people ask for in one breath: a list of people, put into the account. */
export const contactsSync: Tool = {
  name: 'contacts_sync',
  title: 'Sync contacts',
  description:
    'Create or complete many contacts at once, matched by email: blanks are filled, existing values kept, tags united, ' +
    'metadata merged, so that repeating it does no harm. Answers with a report: rows = created + updated + rejected + ' +
    'unsent; `errors` name the first 50 bad rows by `line`, from 1. For a file: svc contacts sync FILE.',
  inputSchema: {
    type: 'object',
    properties: {
      rows: {
        type: 'array',
        items: rowSchema,
        minItems: 1,
        maxItems: mostRows,
        description: `1 to ${number(mostRows)} contacts`,
      },
    },
    required: ['rows'],
    additionalProperties: false,
  },
  outputSchema: {
    type: 'object',
    properties: {
      rows: { type: 'integer', description: 'Rows that were given' },
      created: { type: 'integer', description: 'Contacts that were created' },
      updated: { type: 'integer', description: 'Contacts that were completed' },
      rejected: { type: 'integer', description: 'Rows that were refused' },
      unsent: { type: 'integer', description: 'Rows that were not sent, or not answered' },
      unknown: { type: 'integer', description: 'Of those: rows that may have been done' },
      errors: { type: 'array', description: 'What is wrong with the first 50 bad rows' },
    },
  },
  // Metadata is merged: a value under the same key is overwritten.
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  reach: 'write',
  toolset: 'contacts',
  operation: syncContacts,
  async run({ service, input, boundary, tell }) {
    // Each row is judged by itself.
    refuseUnknown(contactsSync, { ...input, rows: [] });
    const { rows } = input;
    if (!Array.isArray(rows) || rows.length === 0 || rows.length > mostRows) {
      throw invalid({ rows: [`must be a list of 1 to ${mostRows} contacts`] });
    }
    const { report, stopped } = await syncRows(service, rows, tell);
    const errors = firstItems(report.errors.slice(0, mostErrors), room - 1_000);
    const leftOut =
      errors.length < report.errors.length
        ? [
            `errors: the first ${errors.length} of ${counted(report.errors.length, 'bad row')} are here. Fix what is wrong in all rows like them, then send the bad rows again.`,
          ]
        : [];
    return answer(
      { ...report, errors },
      leftOut,
      [
        `${report.created} created, ${report.updated} updated, ${report.rejected} rejected, ${report.unsent} unsent${report.unknown > 0 ? `, of which ${report.unknown} may have been done` : ''}.`,
        ...nextSteps(report, stopped),
      ],
      boundary,
    );
  },
};
