/**
 * The word that this one is probably a slip of: at most two letters wrong (or `most`), and no more than a third of the
 * longer one: of words of one or two letters each is near every other. Its opposite is none: `uninstall`.
 */
export function nearest(word: string, words: readonly string[], most = 2): string | undefined {
  const typed = word.toLowerCase();
  // Each letter more or less is one that is wrong: a word of a million of them is not even compared.
  const alike = words.filter(
    (each) => Math.abs(each.length - typed.length) <= most && typed !== `un${each.toLowerCase()}`,
  );
  const judged = alike.map((each) => ({ each, far: distance(typed, each.toLowerCase()) }));
  const [best] = judged.sort((a, b) => a.far - b.far);
  if (best === undefined) return undefined;
  const third = Math.floor(Math.max(best.each.length, typed.length) / 3);
  return best.far <= Math.min(most, third) ? best.each : undefined;
}

/**
 * The same of a field: `updated` is `updated_at`, `email` is `contact.email`, where only one is so named. `id` is the id of
 * the record itself, which stands first: `contact_id`.
 */
export function nearestField(typed: string, fields: readonly string[]): string | undefined {
  const word = typed.toLowerCase();
  const [own = ''] = fields;
  if (word === 'id' && own.endsWith('_id')) return own;
  const begun = fields.filter((field) => field.toLowerCase().startsWith(`${word}_`));
  const named = fields.filter((field) => field.toLowerCase().endsWith(`.${word}`));
  const [only, ...others] = begun.length > 0 ? begun : named;
  return only !== undefined && others.length === 0 ? only : nearest(typed, fields);
}

/** Letters to change, to add, to leave out or to swap with their neighbour. */
function distance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    const above = rows[i - 1] ?? [];
    for (let j = 1; j <= to.length; j++) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const ways = [(above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (above[j - 1] ?? 0) + cost];
      if (swapped) ways.push((rows[i - 2]?.[j - 2] ?? 0) + 1);
      row.push(Math.min(...ways));
    }
    rows.push(row);
  }
  return rows[from.length]?.[to.length] ?? 0;
}
