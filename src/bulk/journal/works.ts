/**
 * A run, with those that went on with it where it was stopped, whatever their file was called by then: a file that had
 * sent rows `before` it has work of its own. `isOpen`: it has not come to its end.
 */
export type Work = {
  readonly files: ReadonlySet<string | null>;
  readonly before: ReadonlySet<string | null>;
  readonly isOpen: boolean;
};

export function openWorks() {
  const all: { files: Set<string | null>; before: ReadonlySet<string | null>; isOpen: boolean }[] = [];
  return {
    all,
    sends(file: string | null, sentFrom: ReadonlySet<string | null>): void {
      const last = all.at(-1);
      if (!last?.isOpen) all.push({ files: new Set([file]), before: new Set(sentFrom), isOpen: true });
      else if (!last.before.has(file)) last.files.add(file);
    },
    finishes(file: string | null): void {
      const last = all.at(-1);
      if (last?.files.has(file)) last.isOpen = false;
    },
  };
}
