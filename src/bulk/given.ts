import type { Body } from '../command/row.ts';
import { isRecord } from '../text/record.ts';
import { spelledPlainly, type Template } from '../text/template.ts';
import { plainText } from './row-content.ts';

/** What the command line says for every row. */
export type Commanded = {
  /** By the body's fields. */
  readonly body: Body;
  readonly template: Template | undefined;
  /** What placeholders of the template stand for where a row has nothing for them. */
  readonly set: Readonly<Record<string, string>>;
};

/** However it is spelled: as a cell, a text has no spaces around it. */
export function contentOf({ body, template, set: all }: Commanded): string {
  const used = Object.entries(all).filter(([name]) => template?.placeholders.includes(name));
  used.sort(([one], [other]) => (one < other ? -1 : 1));
  const set = used.length > 0 ? [Object.fromEntries(used)] : [];
  const plainly = (_: string, value: unknown) => (typeof value === 'string' ? plainText(value) : value);
  return JSON.stringify([{ body }, template ? spelledPlainly(template) : null, ...set], plainly);
}

/** What of it a row has no use for. */
export type Overridden = { readonly own: Body; readonly set: ReadonlySet<string> };

/**
 * What the command line gives to a row; undefined where that is all of it. A flag that the row's own cell overrides is
 * none of it, so a row stays the same row beside a flag that fills the blank cells of others.
 */
export function givenTo({ body, template, set }: Commanded, { own, set: filled }: Overridden): string | undefined {
  const left = leftOf(body, own);
  const names = Object.keys(set).filter((name) => template?.placeholders.includes(name));
  if (left === body && !names.some((name) => filled.has(name))) return undefined;
  const needed = Object.fromEntries(Object.entries(set).filter(([name]) => !filled.has(name)));
  return contentOf({ body: left, template, set: needed });
}

/** The very same object where nothing of it is overridden. */
function leftOf(given: Body, own: Body): Body {
  if (!Object.keys(own).some((key) => Object.hasOwn(given, key))) return given;
  const left: [string, unknown][] = [];
  for (const [key, value] of Object.entries(given)) {
    const over = Object.hasOwn(own, key) ? own[key] : undefined;
    if (!Object.hasOwn(own, key)) left.push([key, value]);
    else if (isRecord(value) && isRecord(over)) {
      const rest = leftOf(value, over);
      if (Object.keys(rest).length > 0) left.push([key, rest]);
    }
  }
  return Object.fromEntries(left);
}
