import type { Body } from '../../command/row.ts';
import { isRecord } from '../../text/record.ts';
import { spelledPlainly, type Template } from '../../text/template.ts';
import { plainText } from './row-content.ts';

/** What the command line says for every row. */
export type Commanded = {
  /** By the body's fields. */
  readonly body: Body;
  /** How each of them was typed, by field: `--priority`. */
  readonly labels: ReadonlyMap<string, string>;
  readonly template: Template | undefined;
  /** What placeholders of the template stand for where a row has nothing for them. */
  readonly set: Readonly<Record<string, string>>;
};

/** However it is spelled: as a cell, a text has no spaces around it. */
export function contentOf({ body, template, set: all }: Omit<Commanded, 'labels'>): string {
  const used = Object.entries(all).filter(([name]) => template?.placeholders.includes(name));
  used.sort(([one], [other]) => (one < other ? -1 : 1));
  const set = used.length > 0 ? [Object.fromEntries(used)] : [];
  const plainly = (_: string, value: unknown) => (typeof value === 'string' ? plainText(value) : value);
  return JSON.stringify([{ body }, template ? spelledPlainly(template) : null, ...set], plainly);
}

/** What of it a row has no use for. */
export type Overridden = { readonly own: Body; readonly set: ReadonlySet<string> };

/**
 * Tells what the command line gives to a row; undefined where that is all of it. A flag that the row's own cell overrides
 * is none of it, so a row stays the same row beside a flag that fills the blank cells of others.
 */
export function givenReader({ body, template, set }: Commanded): (by: Overridden) => string | undefined {
  const names = Object.keys(set).filter((name) => template?.placeholders.includes(name));
  // The rows of a file are of few kinds, and a template may be long.
  const known = new Map<string, string>();
  return ({ own, set: filled }) => {
    const left = leftOf(body, own);
    const needed = names.filter((name) => !filled.has(name));
    if (left === body && needed.length === names.length) return undefined;
    const kind = JSON.stringify([left, needed]);
    const content =
      known.get(kind) ??
      contentOf({ body: left, template, set: Object.fromEntries(needed.map((name) => [name, set[name] ?? ''])) });
    known.set(kind, content);
    return content;
  };
}

/** What of the command line a row takes: the very same object where nothing of it is overridden. */
export function leftOf(given: Body, own: Body): Body {
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
