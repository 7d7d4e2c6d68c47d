import type { Span } from '../../disk/log/log-file.ts';
import type { RowRequests } from '../rows/row-requests.ts';
import { applyLine, takeBack } from './apply-line.ts';
import { parseLine } from './check.ts';
import {
  type Before,
  forgetNamed,
  type Going,
  goingRows,
  keepFormer,
  otherDoubts,
  sendings,
  standingAs,
} from './going.ts';
import {
  costOf,
  type Finish,
  type FormerHeader,
  type Header,
  keyOf,
  type Listed,
  type Named,
  type Renamed,
  type RowLine,
  type RunLine,
} from './lines.ts';
import { type PassedOver, passing } from './passing.ts';
import { type Restarted, restartedRows } from './restarted.ts';
import { type OpenRowStatuses, rowStatusTable } from './row-status-table.ts';
import { openWorks, type Work } from './works.ts';

/** What a journal says. */
export type Past = {
  readonly header: Header | FormerHeader;
  readonly rowStatuses: OpenRowStatuses;
  /** Rows, as `voidKey` names them, of which runs before that one say nothing that counts any more. */
  readonly voided: ReadonlyMap<string, number>;
  readonly lastRun: number;
  /** When the last run began that sent rows once more. */
  readonly voidedAt: string | undefined;
  readonly restarted: Restarted;
  readonly works: readonly Work[];
  /** Rows that go once more, as drafts. */
  readonly going: ReadonlyMap<string, Going>;
  /** The files that its runs read: null for standard input. */
  readonly files: ReadonlySet<string | null>;
  /** Of these the ones from which rows were sent, or became drafts. */
  readonly sentFrom: ReadonlySet<string | null>;
  readonly passedOver: PassedOver;
  /** Their contents. */
  readonly contents: ReadonlySet<string>;
  /** That of the last run. */
  readonly content: string | undefined;
  /** Which columns their rows fill. */
  readonly shapes: readonly (readonly string[])[];
  /** What rows were called before they had the name that they have now. */
  readonly former: ReadonlyMap<string, string>;
  readonly finished: Finish | undefined;
  /** Of the last run that said who watched it. */
  readonly witness: string | undefined;
  /** Every line that was ever written is there: what was only meant to go has not gone. */
  readonly isWhole: boolean;
  /** What was there before the first row of each run that has written it down, as its rows call it. */
  readonly there: ReadonlyMap<number, Listed>;
  readonly requests: number;
  readonly ms: number;
};

export const voidKey = (...named: Named): string => named.filter((part) => part !== undefined).join(' ');

/** Whether what was written and not synced is there: by which start of the machine, and by how far a witness saw it. */
export type Present = {
  readonly boot: string | undefined;
  readonly saidBy: (witness: string) => number | undefined;
};

/** Tells the lines of a journal from what is none, for whoever has read it before. */
export function lineChecker(): (text: Buffer) => boolean {
  let hasHeader = false;
  return (text) => {
    const line = parseLine(text.toString('utf8'));
    if (!line || 'svc_bulk' in line === hasHeader) return false;
    hasHeader = true;
    return true;
  };
}

/**
 * A reader of the lines of a journal, one after the other: false for what is none.
 *
 * A row that was only meant to go has certainly not gone where the journal has lost no line: its `sent` would be in the
 * file, on disk or not. After a power cut, or where the disk went away and came back, it may have gone. `refs`: of the
 * rows that are sent now, which take less room so.
 */
export function journalReader(present: Present, refs?: RowRequests) {
  const rowStatuses = rowStatusTable(refs);
  const voided = new Map<string, number>();
  let voidedAt: string | undefined;
  const restarted = restartedRows();
  const works = openWorks();
  const there = new Map<number, Listed>();
  const [files, sentFrom, contents] = [new Set<string | null>(), new Set<string | null>(), new Set<string>()];
  const passed = passing(rowStatuses);
  let file: string | null = null;
  const shapes: (readonly string[])[] = [];
  const former = new Map<string, string>();
  let header: Header | FormerHeader | undefined;
  let finished: Past['finished'];
  let run: RunLine | undefined;
  let [number, requests, ms, msOfRun, end] = [0, 0, 0, 0, 0];
  let isWhole = true;
  const voidAll = (names: readonly Named[], since: number) => {
    for (const name of names) voided.set(voidKey(...name), since);
  };
  const keep = (row: string, before: Before | undefined) => {
    if (run?.shapes) keepFormer(rowStatuses, row, before);
  };
  const going = goingRows(rowStatuses, (gone, { again, run: since, before }) => {
    // Who goes on with what was begun again goes on with its drafts.
    if (again.length > 0 && !restarted.has(gone)) voidedAt = run?.at;
    voidAll(again, since);
    keep(gone, before);
    // By a name that it had before: the very run that it goes with may have spoken of it.
    for (const name of again) if (name[0] === header?.settings && name[1] !== gone) forgetNamed(rowStatuses, name);
  });
  const [doubts, sent] = [otherDoubts(rowStatuses), sendings(rowStatuses)];
  const judgeMeant = (isSure: boolean) => {
    for (const [row, rowStatus] of rowStatuses.standing('meant')) {
      if (isSure) {
        takeBack(rowStatuses, row);
        going.comesBack(row);
      } else if ('before' in rowStatus) rowStatuses.set(row, { ...rowStatus, status: 'sent' });
    }
  };
  const begins = (next: RunLine) => {
    // Version 0.1.0 believed them by the start of the machine alone, and has acted on that.
    number = next.number ?? number;
    const isFormer = next.witness === undefined && next.boot !== undefined && next.boot === run?.boot;
    judgeMeant(next.whole ?? isFormer);
    going.over();
    run = next;
    ms += msOfRun;
    msOfRun = 0;
    if (next.file !== undefined) {
      files.add(next.file);
      file = next.file;
    }
    for (const one of Array.isArray(next.sentFrom) ? next.sentFrom : []) sentFrom.add(one);
    passed.wants(next.passedOver);
    if (next.content !== undefined) contents.add(next.content);
    if (Array.isArray(next.shapes)) shapes.push(...next.shapes.filter(Array.isArray));
  };
  const rename = ({ was, row, fate: { is }, settings }: Renamed) => {
    // What it was sent as before that stays sent.
    voided.set(voidKey(settings ?? header?.settings ?? '', was, is), number);
    former.set(was, row);
    if (settings === undefined) going.renames(was, row);
  };
  const takeRow = (line: RowLine) => {
    going.leaves(line, number);
    doubts.leaves(line);
    sent.leaves(line);
    const before = 'renamed' in line ? line.renamed.rows.map(({ row }) => standingAs(rowStatuses, row)) : [];
    applyLine(rowStatuses, line);
    if ('run' in line) begins(line.run);
    else finished = 'finished' in line ? line.finished : undefined;
    if ('sent' in line || 'drafting' in line) {
      works.sends(file, sentFrom);
      sentFrom.add(file);
    }
    if ('drafting' in line && line.drafting.again && !restarted.has(line.drafting.row)) voidedAt = run?.at;
    if ('finished' in line) {
      works.finishes(file);
      restarted.ends(run?.content);
    }
    if ('there' in line) there.set(keyOf(line.there), line.there);
    if ('again' in line) {
      voidedAt = run?.at;
      const { rows, settings } = line.again;
      for (const one of settings) for (const row of rows) voided.set(voidKey(one, row), number);
    }
    if ('restart' in line) {
      voidedAt = run?.at;
      restarted.begin(line.restart, number, run?.content);
    }
    if ('renamed' in line)
      for (const [at, one] of line.renamed.rows.entries()) {
        rename(one);
        keep(one.row, before[at]);
      }
    sent.ends(line, number);
    going.ends(line);
    doubts.ends(line);
    passed.take(line, number);
    const cost = costOf(line);
    requests += cost.requests;
    msOfRun = Math.max(msOfRun, cost.ms);
  };
  const isWitnessed = () => {
    if (!isWhole || run?.witness === undefined || run.boot === undefined || run.boot !== present.boot) return false;
    const said = present.saidBy(run.witness);
    return said !== undefined && said <= end;
  };
  return {
    take(text: Buffer, span: Span) {
      const line = parseLine(text.toString('utf8'));
      if (!line || 'svc_bulk' in line !== (header === undefined)) {
        isWhole = false;
        return false;
      }
      end = span.start + span.length;
      if ('svc_bulk' in line) {
        header = line;
        files.add(line.file);
        file = line.file;
      } else takeRow(line);
      return true;
    },
    past() {
      const isSure = isWitnessed();
      judgeMeant(isSure);
      going.over();
      if (!header) return undefined;
      return {
        header,
        rowStatuses,
        voided,
        lastRun: number,
        voidedAt,
        restarted,
        works: works.all,
        going: going.left(),
        files,
        sentFrom,
        passedOver: passed.passedOver(),
        contents,
        content: run?.content,
        shapes,
        former,
        finished,
        witness: run?.witness,
        isWhole: isSure,
        there,
        requests,
        ms: ms + msOfRun,
      };
    },
  };
}
