export type DiffLine = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string };

/** Beyond this many comparisons a text counts as rewritten; the table of a longest common part would not fit. */
const mostComparisons = 4_000_000;

/** The lines of both texts in order, those that both hold once: what a reader of a diff expects. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const end = (lines: readonly string[]) => lines.length - tail;
  return [
    ...before.slice(0, head).map((text) => ({ kind: 'same', text }) as const),
    ...middle(before.slice(head, end(before)), after.slice(head, end(after))),
    ...before.slice(end(before)).map((text) => ({ kind: 'same', text }) as const),
  ];
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const gone = before.map((text) => ({ kind: 'gone', text }) as const);
  const fresh = after.map((text) => ({ kind: 'new', text }) as const);
  if (before.length * after.length > mostComparisons) return [...gone, ...fresh];
  const lines: DiffLine[] = [];
  const common = commonLengths(before, after);
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    const [left, right] = [gone[i] as DiffLine, fresh[j] as DiffLine];
    if (left.text === right.text) {
      lines.push({ kind: 'same', text: left.text });
      i++;
      j++;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) {
      lines.push(left);
      i++;
    } else {
      lines.push(right);
      j++;
    }
  }
  return [...lines, ...gone.slice(i), ...fresh.slice(j)];
}

/** `[i][j]`: how many lines `before` from i on and `after` from j on have in common, in order. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint32Array[] {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i] as Uint32Array, rows[i + 1] as Uint32Array];
    for (let j = after.length - 1; j >= 0; j--) {
      row[j] = before[i] === after[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
    }
  }
  return rows;
}

/** The changed lines with `around` unchanged ones beside them; a gap is undefined. */
export function withContext(lines: readonly DiffLine[], around = 2): (DiffLine | undefined)[] {
  const shown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some((near) => near.kind !== 'same'),
  );
  return lines.flatMap((line, i) => (shown[i] ? [line] : shown[i - 1] || i === 0 ? [undefined] : []));
}
