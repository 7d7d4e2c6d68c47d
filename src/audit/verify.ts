import { linesIn } from '../disk/log/shared-log-part.ts';
import { hexDigestOf } from '../text/digest.ts';
import { type Line, parseLine } from './entry.ts';
import { filesOf } from './read.ts';
import { gapsOf } from './switch.ts';

/** The first place at which a record is not as svc wrote it. `at`: the line in the file, from 1. */
export type Fault = {
  readonly file: string;
  readonly at: number;
  readonly what: 'changed' | 'removed' | 'added' | 'moved';
};

export type Verdict = Awaited<ReturnType<typeof verify>>;

/** A line with where it stands. `line`: undefined where it is none of the record, or was changed. */
type Placed = {
  readonly file: string;
  readonly at: number;
  readonly digest: string;
  readonly line: Line | undefined;
};

/** The first line that does not follow the one before it, and what comes after. */
type Break = {
  readonly before: Placed | undefined;
  readonly broken: Placed;
  next?: Placed;
  /** The line that belongs here comes later. */
  comesLater: boolean;
};

/** Reads the whole record. `head`: the digest of a line that must be there. */
export async function verify(root: string, head?: string) {
  const files = filesOf(root);
  let [lines, writes, newest, isTorn, hasHead] = [0, 0, 0, false, false];
  let before: Placed | undefined;
  let found: Break | undefined;
  const { see, gaps } = gapsOf();
  for (const file of files) {
    let at = 0;
    for await (const { bytes, isWhole } of linesIn(file)) {
      at++;
      isTorn = !isWhole;
      if (isTorn) continue;
      const placed = { file, at, digest: hexDigestOf(bytes), line: parseLine(bytes.toString('utf8')) };
      if (found) lookOn(found, placed);
      else if (!follows(placed, before)) found = { before, broken: placed, comesLater: false };
      hasHead ||= placed.digest === head;
      if (placed.line) {
        see(placed.line);
        if (placed.line.seq > newest) writes++;
        newest = Math.max(newest, placed.line.seq);
      }
      lines++;
      before = placed;
    }
  }
  const fault = found && faultOf(found);
  return {
    lines,
    /** As `audit list` counts them: most have two lines. */
    writes,
    /** The digest of the last line; null where there is none. */
    head: before?.digest ?? null,
    fault,
    /** The last line has no end, as a crash or a full disk leaves it: of a write that was to leave (`sent`) it did not; what became of one may be all that is torn. */
    isTorn,
    /** Whether one of the lines has the digest that was asked for. */
    hasHead,
    /** The oldest first. */
    gaps: gaps(),
  };
}

const numberAfter = (before: Placed | undefined): number => (before?.line?.line ?? 0) + 1;

const follows = ({ line }: Placed, before: Placed | undefined): boolean =>
  line !== undefined && line.prev === (before?.digest ?? null) && line.line === numberAfter(before);

function lookOn(found: Break, placed: Placed): void {
  found.next ??= placed;
  found.comesLater ||= placed.line?.line === numberAfter(found.before);
}

function faultOf({ before, broken, next, comesLater }: Break): Fault {
  const { line, ...at } = broken;
  const here = (what: Fault['what']): Fault => ({ file: at.file, at: at.at, what });
  if (!line) return here(next && follows(next, before) ? 'added' : 'changed');
  const expected = numberAfter(before);
  if (line.line < expected) return here('added');
  if (line.line > expected) {
    if (comesLater) return here('moved');
    // The last line of the file before.
    return before && at.at === 1 ? { file: before.file, at: before.at + 1, what: 'removed' } : here('removed');
  }
  // Two lines that do not fit, each of them whole: the next one tells which was written again.
  const isVouchedFor = next !== undefined && next.line?.prev === broken.digest;
  return before && isVouchedFor ? { file: before.file, at: before.at, what: 'changed' } : here('changed');
}
