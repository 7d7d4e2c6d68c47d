import { detached } from '../text/detached.ts';
import { jsonAs } from '../text/json.ts';
import { isTexts } from '../text/record.ts';

export const usualSeparator = ';';

/** What separates tags in many exports; one of them in a cell that nobody explained could also be part of a tag. */
const otherSeparators = [':::', '|', ','];

/** Adds the tags of a trimmed cell that is not blank. Says what else may separate them, where that is not plain. */
type AddTags = (text: string, tags: string[]) => string | undefined;

/** What a cell says. `doubt`: what else may separate its tags. */
type TagCell = { readonly tags: readonly string[]; readonly isList: boolean; readonly doubt: string | undefined };

/** Of millions of people most have the tags of others. Longer cells, and more of them, would only fill the memory. */
const mostRemembered = 1_000;
const longestRemembered = 200;

/**
 * `separator`: `none` where each cell is one tag; undefined where nobody said: then `;` separates, and a cell that looks as
 * if something else did is a question. `onList` hears of each cell that is a list in quotes or brackets.
 */
export function tagReader(separator: string | undefined, onList: () => void): AddTags {
  const read = cellReader(separator);
  const remembered = new Map<string, TagCell>();
  const readNew = (text: string): TagCell => {
    if (text.length > longestRemembered || remembered.size >= mostRemembered) return read(text);
    const own = detached(text);
    const cell = read(own);
    remembered.set(own, cell);
    return cell;
  };
  return (text, tags) => {
    const cell = remembered.get(text) ?? readNew(text);
    if (cell.isList) onList();
    for (const tag of cell.tags) if (tag !== '' && !tags.includes(tag)) tags.push(tag);
    return cell.doubt;
  };
}

function cellReader(separator: string | undefined): (text: string) => TagCell {
  if (separator === 'none') return (text) => ({ tags: [unquoted(text)], isList: false, doubt: undefined });
  const between = separator ?? usualSeparator;
  const part = partOfList(between);
  return (text) => {
    const list = listed(text, part);
    if (list) return { tags: list, isList: true, doubt: undefined };
    const tags = text.includes(between) ? text.split(between).map((tag) => unquoted(tag.trim())) : [unquoted(text)];
    const doubt = separator === undefined ? otherSeparators.find((other) => text.includes(other)) : undefined;
    return { tags, isList: false, doubt };
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
  return jsonAs(text, isTexts)?.map((tag) => tag.trim());
}
