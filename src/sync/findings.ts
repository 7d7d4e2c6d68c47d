import { newSeen, type Seen } from '../batch/seen.ts';
import type { MarkWatch } from './marks.ts';

/** What a first reading of the file finds that a person should hear of before anything is sent. */
export type Findings = {
  /** Rows that were looked at. */
  see(cells: readonly string[]): void;
  readonly severalEmails: Seen;
  /** Cells of tags that nobody said how to read, by what may separate them. */
  readonly doubtfulTags: ReadonlyMap<string, Seen>;
  doubtTags(separator: string, line: number, text: string): void;
  /** Names of groups that a program makes for everybody, as `* myContacts`. */
  readonly systemGroups: Set<string>;
  /** Cells that hold a list of tags in quotes or brackets. */
  tagLists: number;
  /** Phones that are sent otherwise than the cell has them. */
  phonesRead: number;
  /** Texts that are sent otherwise than the column of their field has them: from one that stands in, or a part of a whole name. */
  textsMoved: number;
  /** Phones that could exist, and do not. */
  doubtfulPhones: number;
};

export function newFindings(marks?: MarkWatch): Findings {
  const doubtfulTags = new Map<string, Seen>();
  return {
    see: marks ? marks.see : () => {},
    severalEmails: newSeen(),
    doubtfulTags,
    doubtTags(separator, line, text) {
      const seen = doubtfulTags.get(separator) ?? newSeen();
      doubtfulTags.set(separator, seen);
      seen.add(line, text);
    },
    systemGroups: new Set(),
    tagLists: 0,
    phonesRead: 0,
    textsMoved: 0,
    doubtfulPhones: 0,
  };
}
