import { operations } from '../api/index.ts';
import type { Operation } from '../api/operation.ts';
import { resources } from '../api/resources.ts';
import { fieldsOf, type Shape } from '../api/shape.ts';
import { listerOf } from '../http/exchange/record.ts';
import { nearestField } from '../text/near.ts';
import { bracedNames } from './template-file.ts';

/**
 * Of a template's placeholders those that no record has: a slip, or the column of a file. What to say of them; undefined
 * where there are none.
 */
export function unknownNames(placeholders: readonly string[]): string | undefined {
  const known = recordPaths();
  const open = known.filter(({ isOpen }) => isOpen).map(({ path }) => `${path}.`);
  const paths = known.map(({ path }) => path);
  const unknown = placeholders.filter((name) => !paths.includes(name) && !open.some((begin) => name.startsWith(begin)));
  if (unknown.length === 0) return undefined;
  const near = unknown.flatMap((name) => nearestField(name, paths) ?? []);
  const meant = near.length > 0 ? ` Did you mean ${bracedNames([...new Set(near)])}?` : '';
  const it = unknown.length === 1 ? 'it is' : 'they are';
  return `No record has ${bracedNames(unknown)}: ${it} filled in by a column of that name, or by --set.${meant}`;
}

/**
 * Of placeholders that the file of a bulk run has no column for: where those come from that the records themselves have, as
 * a line of advice; empty where they have none of them.
 */
export function listedFor({ ids = {} }: Operation, strange: readonly string[]): string {
  const kind = Object.values(ids)[0];
  const list = kind && listerOf(kind);
  if (kind === undefined || list?.answer.shape !== 'list') return '';
  const paths = pathsOf(fieldsOf(list.response)[list.answer.key]?.item?.fields ?? {}).map(({ path }) => path);
  const listed = strange.filter((name) => paths.includes(name));
  if (listed.length === 0) return '';
  const command = `svc ${list.command.join(' ')} -o jsonl`;
  return `From a file the columns alone fill in the template, not each ${resources[kind].noun} itself; ${command} writes ${bracedNames(listed)}.\n`;
}

type Path = { readonly path: string; readonly isOpen: boolean };

/** The fields of every record that a template is filled in from, dotted. `isOpen`: whoever writes there chooses its names. */
function recordPaths(): readonly Path[] {
  const read = Object.values<Operation>(operations).filter(
    ({ safety, answer }) => safety === 'read' && answer.shape === 'record',
  );
  return read.flatMap(({ response, answer }) => {
    const fields = fieldsOf(response);
    return pathsOf(answer.key === undefined ? fields : (fields[answer.key]?.fields ?? {}));
  });
}

function pathsOf(fields: Readonly<Record<string, Shape>>, before = ''): readonly Path[] {
  return Object.entries(fields).flatMap(([name, { type, fields: inner }]) => {
    const path = `${before}${name}`;
    const isOpen = type === 'pairs' || type === 'unknown' || (type === 'object' && inner === undefined);
    return [{ path, isOpen }, ...(inner ? pathsOf(inner, `${path}.`) : [])];
  });
}
