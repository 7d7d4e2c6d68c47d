import { diffArrays } from 'diff';

export type DiffLine = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string };

/** Beyond this many changed lines a text counts as rewritten: the search takes time by the square of them. */
const mostChanges = 1_000;

/** The lines of both texts in order, those that both hold once: what a reader of a diff expects. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: mostChanges });
  if (!changes) return [...linesOf('gone', before), ...linesOf('new', after)];
  return changes.flatMap(({ added, removed, value }) => {
    if (added) return linesOf('new', value);
    return linesOf(removed ? 'gone' : 'same', value);
  });
}

const linesOf = (kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind, text }));

/** The changed lines with `around` unchanged ones beside them; a gap is undefined. */
export function withContext(lines: readonly DiffLine[], around = 2): (DiffLine | undefined)[] {
  const shown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some((near) => near.kind !== 'same'),
  );
  return lines.flatMap((line, i) => {
    if (shown[i]) return [line];
    return shown[i - 1] || i === 0 ? [undefined] : [];
  });
}
