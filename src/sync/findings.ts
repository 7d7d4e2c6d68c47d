import { newSeen, type Seen } from '../batch/seen.ts';
import type { MarkWatch } from './marks.ts';

export type Findings = ReturnType<typeof newFindings>;

/** What a first reading of the file finds that a person should hear of before anything is sent. */
export function newFindings(marks?: MarkWatch) {
  /** Cells of tags that nobody said how to read, by what may separate them. */
  const doubtfulTags = new Map<string, Seen>();
  return {
    /** Rows that were looked at. */
    see: (cells: readonly string[]) => marks?.see(cells),
    severalEmails: newSeen(),
    doubtfulTags,
    doubtTags(separator: string, line: number, text: string): void {
      const seen = doubtfulTags.get(separator) ?? newSeen();
      doubtfulTags.set(separator, seen);
      seen.add(line, text);
    },
    /** Names of groups that a program makes for everybody, as `* myContacts`. */
    systemGroups: new Set<string>(),
    /** Cells that hold a list of tags in quotes or brackets. */
    tagLists: 0,
    /** Phones that are sent otherwise than the cell has them. */
    phonesRead: 0,
    /** Texts that are sent otherwise than the column of their field has them: from one that stands in, or a part of a whole name. */
    textsMoved: 0,
    /** Phones that could exist, and do not. */
    doubtfulPhones: 0,
  };
}
