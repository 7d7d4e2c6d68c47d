/** How the tags of a cell are told apart. */
export type TagSeparator =
  | { readonly kind: 'given'; readonly text: string }
  /** Nobody said: `;` separates, and a cell that looks as if something else did is a question. */
  | { readonly kind: 'usual' }
  /** Each cell is one tag. */
  | { readonly kind: 'none' };

export const usualSeparator = ';';

export function separatorOf(flag: string | undefined): TagSeparator {
  if (!flag) return { kind: 'usual' };
  return flag === 'none' ? { kind: 'none' } : { kind: 'given', text: flag };
}

/** What separates tags in many exports; one of them in a cell that nobody explained could also be part of a tag. */
const otherSeparators = [':::', '|', ','];

export type CellOfTags = {
  readonly tags: readonly string[];
  /** What else may separate the tags of this cell: undefined where it is plain how to read it. */
  readonly doubt?: string;
  /** A list in quotes or brackets. */
  readonly isList?: boolean;
};

/** Takes a trimmed cell that is not blank. */
export function tagReader(separator: TagSeparator): (text: string) => CellOfTags {
  if (separator.kind === 'none') return (text) => ({ tags: [unquoted(text)] });
  const between = separator.kind === 'given' ? separator.text : usualSeparator;
  const part = partOfList(between);
  return (text) => {
    const list = listed(text, part);
    if (list) return { tags: list, isList: true };
    const tags = (text.includes(between) ? text.split(between) : [text]).map((tag) => unquoted(tag.trim()));
    const doubt = separator.kind === 'given' ? undefined : otherSeparators.find((other) => text.includes(other));
    return doubt === undefined ? { tags } : { tags, doubt };
  };
}

const unquoted = (tag: string): string =>
  tag.length > 1 && tag.startsWith('"') && tag.endsWith('"') ? tag.slice(1, -1).replaceAll('""', '"') : tag;

function listed(text: string, part: RegExp): string[] | undefined {
  if (text.startsWith('"')) return quotedTags(text, part);
  return text.startsWith('[') ? jsonTags(text) : undefined;
}

/** A tag in quotes or without, and what follows it. */
const partOfList = (between: string): RegExp =>
  new RegExp(
    `\\s*(?:"((?:[^"]|"")*)"|([^"]*?))\\s*(?:$|(:::|[,;|]|${between.replaceAll(/[\^$\\.*+?()[\]{}|/]/gu, '\\$&')}))`,
    'uy',
  );

/** A cell that quotes its tags, as Mailchimp does: `"VIP","New, big"`. Undefined where it is no such list. */
function quotedTags(text: string, part: RegExp): string[] | undefined {
  const tags: string[] = [];
  let separator: string | undefined;
  part.lastIndex = 0;
  while (part.lastIndex < text.length) {
    const [, quoted, bare, next] = part.exec(text) ?? [];
    if (quoted === undefined && bare === undefined) return undefined;
    separator ??= next;
    if (next !== undefined && next !== separator) return undefined;
    tags.push((quoted ?? bare ?? '').replaceAll('""', '"').trim());
  }
  return tags;
}

/** A cell that is a JSON array of texts. */
function jsonTags(text: string): string[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value) || !value.every((tag) => typeof tag === 'string')) return undefined;
    return value.map((tag) => tag.trim());
  } catch {
    return undefined;
  }
}
