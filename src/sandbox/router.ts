import type { Operation, Table } from '../api/operation.ts';
import { presetPath } from '../api/path.ts';

type Node = {
  readonly literal: Map<string, Node>;
  param?: Node;
  readonly methods: Map<string, { readonly operation: Operation; readonly names: readonly string[] }>;
};

export type Match =
  | { readonly operation: Operation; readonly params: Readonly<Record<string, number>> }
  /** The path is known, but not with this method. */
  | { readonly allowed: readonly string[] };

const node = (): Node => ({ literal: new Map(), methods: new Map() });

/** What finds the operation that a path and method name; undefined where the path is none of the table's. */
export function routerOf(table: Table) {
  const root = node();
  for (const operation of Object.values(table)) add(root, operation);
  return (method: string, path: string) => match(root, method, path);
}

function add(root: Node, operation: Operation): void {
  let at = root;
  const names: string[] = [];
  for (const segment of presetPath(operation.path).slice(1).split('/')) {
    const name = /^\{(\w+)\}$/u.exec(segment)?.[1];
    if (name) {
      names.push(name);
      at.param ??= node();
      at = at.param;
    } else {
      const next = at.literal.get(segment) ?? node();
      at.literal.set(segment, next);
      at = next;
    }
  }
  at.methods.set(operation.method, { operation, names });
}

function match(root: Node, method: string, path: string): Match | undefined {
  const ids: number[] = [];
  const found = walk(root, path, path.indexOf('/') + 1 || path.length + 1, ids);
  if (!found) return undefined;
  // A HEAD request is a GET whose body is left out.
  const served = found.methods.get(method === 'HEAD' ? 'GET' : method);
  if (!served) return { allowed: [...found.methods.keys()] };
  const { operation, names } = served;
  // Two operations at one path may name the id differently.
  const params: Record<string, number> = {};
  names.forEach((name, at) => {
    params[name] = ids[at] ?? 0;
  });
  return { operation, params };
}

/** `start`: where the next segment of the path begins; behind the end of the path where there is none. */
function walk(from: Node, path: string, start: number, ids: number[]): Node | undefined {
  if (start > path.length) return from.methods.size > 0 ? from : undefined;
  const slash = path.indexOf('/', start);
  const end = slash < 0 ? path.length : slash;
  const segment = path.slice(start, end);
  const literal = from.literal.get(segment);
  const found = literal && walk(literal, path, end + 1, ids);
  if (found) return found;
  // Ids are integers (service.md#records-1): anything else is no record's path.
  if (!from.param || !/^\d{1,16}$/u.test(segment)) return undefined;
  ids.push(Number(segment));
  const below = walk(from.param, path, end + 1, ids);
  if (!below) ids.pop();
  return below;
}
