import { check, type FieldErrors } from '../api/check.ts';
import { SyncContact, syncChunkSize } from '../api/contacts.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call.ts';
import { type Chunk, createChunker } from '../sync/chunks.ts';
import type { Report } from '../sync/report.ts';
import type { Problem, Row } from '../sync/rows.ts';
import { accountTarget } from '../sync/targets.ts';
import { fieldsIn } from '../text/record.ts';

type Counts = { readonly created: number; readonly updated: number };

/** More rows than an assistant writes by hand; a file goes through `svc contacts sync`. */
export const mostRows = 2000;

/**
 * Rows into the account with the report of `svc contacts sync`; `line` is the row's number, from 1. A row that the
 * service would refuse never goes out, and never stops the rest. What was not answered any more counts as unsent.
 */
export async function syncRows(service: Service, rows: readonly unknown[]): Promise<Report & Counts> {
  const began = service.ctx.clock.ticks();
  const target = accountTarget(service);
  const { sendable, problems } = judged(rows);
  const chunks = inChunks(sendable);
  const report = { created: 0, updated: 0, chunks: 0 };
  let stopped: Failure | undefined;
  for (const chunk of chunks) {
    try {
      const outcome = await target.send(chunk);
      report.created += outcome.created;
      report.updated += outcome.updated;
      report.chunks++;
      problems.push(...outcome.problems);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      stopped = error;
      break;
    }
  }
  // Nothing has been done yet: then it is a failure like any other.
  if (stopped && report.chunks === 0) throw stopped;
  const { created, updated } = report;
  return {
    file: 'rows',
    rows: rows.length,
    created,
    updated,
    rejected: problems.length,
    unsent: rows.length - created - updated - problems.length,
    chunks: report.chunks,
    requests: target.requests(),
    resumed_rows: 0,
    duration_ms: Math.round(service.ctx.clock.ticks() - began),
    errors: problems.sort((a, b) => a.line - b.line),
  };
}

function judged(rows: readonly unknown[]): { sendable: Row[]; problems: Problem[] } {
  const sendable: Row[] = [];
  const problems: Problem[] = [];
  rows.forEach((row, index) => {
    const line = index + 1;
    const checked = check(SyncContact, row);
    if (checked.ok) {
      const contact = checked.value;
      sendable.push({ line, contact, size: JSON.stringify(contact).length, phone: 'fine' });
    } else {
      const email = fieldsIn(row).email;
      problems.push({ line, email: typeof email === 'string' ? email : '', error: inWords(checked.fields) });
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
