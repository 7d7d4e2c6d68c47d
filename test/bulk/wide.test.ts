// What many columns, and many earlier runs, cost.
import { expect, test } from 'vitest';
import { createTicket } from '../../src/api/tickets.ts';
import { grownRows } from '../../src/bulk/history/grown.ts';
import type { Judges } from '../../src/bulk/history/judges.ts';
import { matchTable } from '../../src/bulk/history/match-table.ts';
import { rowStatusTable } from '../../src/bulk/journal/row-status-table.ts';
import { resolveColumns } from '../../src/bulk/rows/columns.ts';
import type { Plan } from '../../src/bulk/rows/plan.ts';
import { contentReader } from '../../src/bulk/rows/row-content.ts';
import { createNumbering, rowRequests } from '../../src/bulk/rows/row-requests.ts';
import { cpuTimer } from '../cpu.ts';

test('a table of thousands of columns is read at once', () => {
  const names = Array.from({ length: 4000 }, (_, at) => `Column ${at}`);
  const used = cpuTimer();
  const { unused } = resolveColumns([...names, 'subject'], { operation: createTicket }, { map: [], match: undefined });
  expect(unused).toHaveLength(4000);
  expect(used()).toBeLessThan(1500);
});

test('a row that an earlier run does not know is looked for there once', async () => {
  const refs = rowRequests();
  const columns = { names: ['subject', 'priority'], targets: [], unused: [], ignored: new Set<number>() };
  const row = { line: 2, cells: ['One', '1'] };
  refs.set(createNumbering(refs.names)(contentReader(columns).nameOf(row), 0), 'request');
  let asked = 0;
  const former = new Map<string, string>();
  former.get = () => {
    asked++;
    return undefined;
  };
  const from = { path: '', past: { shapes: [['subject']], rowStatuses: rowStatusTable(), former } };
  async function* read() {
    yield [row];
  }
  const plan = { shapes: [['priority', 'subject']], columns, refs, rows: { read } } as unknown as Plan;
  const judges = { all: [from], isSame: () => true } as unknown as Judges;
  expect(await grownRows(plan, { journals: judges, drafted: new Map() }, matchTable(refs))).toEqual([]);
  expect(asked).toBe(1);
});
