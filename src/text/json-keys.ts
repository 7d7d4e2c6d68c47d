import { endOfString } from './json-depth.ts';

const signs = /["{}[\]]/gu;
const colon = /\s*:/uy;

/**
 * The first key that stands twice in one object of a JSON document, at whatever depth: whoever reads it takes one of the
 * two, and not everybody the same. The text must be JSON.
 */
export function keyTwice(json: string): string | undefined {
  const open: Set<string>[] = [];
  signs.lastIndex = 0;
  for (let found = signs.exec(json); found; found = signs.exec(json)) {
    const [sign] = found;
    if (sign === '{' || sign === '[') open.push(new Set());
    else if (sign !== '"') open.pop();
    else {
      const end = endOfString(json, found.index);
      signs.lastIndex = end;
      colon.lastIndex = end;
      if (!colon.test(json)) continue;
      const key = String(JSON.parse(json.slice(found.index, end)));
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

/** Behind the name of the place where it stands. */
export const twiceIn = (key: string): string => `has the key ${JSON.stringify(key)} twice`;

/** An escaped backslash before it makes a text of it. */
const nul = /(?<!\\)(?:\\\\)*\\u0000/u;

/** What nobody means in a record, behind the name of the place where it stands. In a file that is no JSON a NUL is refused as well. */
export function unmeantIn(json: string): string | undefined {
  const key = keyTwice(json);
  if (key !== undefined) return twiceIn(key);
  return nul.test(json) ? 'holds a NUL character (\\u0000)' : undefined;
}
