import { jsonIn } from '../text/json.ts';

export const usualSeparator = ';';

/** What separates tags in many exports; one of them in a cell that nobody explained could also be part of a tag. */
const otherSeparators = [':::', '|', ','];

/** Adds the tags of a trimmed cell that is not blank. Says what else may separate them, where that is not plain. */
type AddTags = (text: string, tags: string[]) => string | undefined;

/**
 * `separator`: `none` where each cell is one tag; undefined where nobody said: then `;` separates, and a cell that looks as
 * if something else did is a question. `onList` hears of each cell that is a list in quotes or brackets.
 */
export function tagReader(separator: string | undefined, onList: () => void): AddTags {
  if (separator === 'none') {
    return (text, tags) => {
      add(tags, unquoted(text));
      return undefined;
    };
  }
  const between = separator ?? usualSeparator;
  const part = partOfList(between);
  return (text, tags) => {
    const list = listed(text, part);
    if (list) {
      onList();
      for (const tag of list) add(tags, tag);
      return undefined;
    }
    if (!text.includes(between)) add(tags, unquoted(text));
    else for (const tag of text.split(between)) add(tags, unquoted(tag.trim()));
    return separator === undefined ? otherSeparators.find((other) => text.includes(other)) : undefined;
  };
}

function add(tags: string[], tag: string): void {
  if (tag !== '' && !tags.includes(tag)) tags.push(tag);
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
    `(?:\\s*"((?:[^"]|"")*)"\\s*|([^"]*?))(?:$|(:::|[,;|]|${between.replaceAll(/[\^$\\.*+?()[\]{}|/]/gu, '\\$&')}))`,
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
  const value = jsonIn(text);
  if (!Array.isArray(value) || !value.every((tag) => typeof tag === 'string')) return undefined;
  return value.map((tag) => tag.trim());
}
