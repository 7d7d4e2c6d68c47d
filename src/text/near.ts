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
  let best: { readonly each: string; readonly far: number } | undefined;
  for (const each of alike) {
    const far = distance(typed, each.toLowerCase(), best ? best.far - 1 : most);
    if (far !== undefined) best = { each, far };
  }
  if (best === undefined) return undefined;
  const third = Math.floor(Math.max(best.each.length, typed.length) / 3);
  return best.far <= Math.min(most, third) ? best.each : undefined;
}

/** The question whether that is what was meant; undefined where the word is near none. */
export function nearHint(word: string, words: readonly string[]): string | undefined {
  const meant = nearest(word, words);
  return meant && `Did you mean ${meant}?`;
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

/**
 * Letters to change, to add, to leave out or to swap with their neighbour; undefined where they are more than `most`. A folder
 * may hold a hundred thousand names that differ in a few letters: only these are compared, and no further than they may be apart.
 */
function distance(one: string, other: string, most: number): number | undefined {
  const [from, to] = differing(one, other);
  let [before, above]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= from.length; i++) {
    const row: number[] = [i];
    for (let j = Math.max(1, i - most); j <= Math.min(to.length, i + most); j++) {
      const cost = from[i - 1] === to[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const ways = [orFar(above[j]) + 1, orFar(row[j - 1]) + 1, orFar(above[j - 1]) + cost];
      row[j] = Math.min(...ways, swapped ? orFar(before[j - 2]) + 1 : Number.POSITIVE_INFINITY);
    }
    [before, above] = [above, row];
  }
  const last = orFar(above[to.length]);
  return last <= most ? last : undefined;
}

/** What is not compared is further than anything. */
const orFar = (letters: number | undefined): number => letters ?? Number.POSITIVE_INFINITY;

/** Both without the letters that they begin and end with alike. */
function differing(one: string, other: string): readonly [string, string] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)];
}
