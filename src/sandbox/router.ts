import { operations } from '../api/index.ts';
import type { Method, Operation } from '../api/operation.ts';
import { presetPath } from '../api/path.ts';

type Node = {
  readonly literal: Map<string, Node>;
  param?: { readonly name: string; readonly node: Node };
  readonly methods: Map<Method, Operation>;
};

export type Match =
  | { readonly operation: Operation; readonly params: Readonly<Record<string, number>> }
  /** The path is known, but not with this method. */
  | { readonly allowed: readonly string[] };

const node = (): Node => ({ literal: new Map(), methods: new Map() });

const root = node();
for (const operation of Object.values(operations) as Operation[]) add(operation);

function add(operation: Operation): void {
  let at = root;
  for (const segment of presetPath(operation.path).slice(1).split('/')) {
    const name = /^\{(\w+)\}$/u.exec(segment)?.[1];
    if (name) {
      // Two operations on one path may name the id differently; the first name serves for the walk.
      at.param ??= { name, node: node() };
      at = at.param.node;
    } else {
      const next = at.literal.get(segment) ?? node();
      at.literal.set(segment, next);
      at = next;
    }
  }
  at.methods.set(operation.method, operation);
}

/** The operation that a path and method name; undefined where the path is none of the document's. */
export function match(method: string, path: string): Match | undefined {
  const params: Record<string, number> = {};
  const found = walk(root, path.split('/'), 1, params);
  if (!found) return undefined;
  // A HEAD request is a GET whose body is left out.
  const operation = found.methods.get((method === 'HEAD' ? 'GET' : method) as Method);
  return operation ? { operation, params } : { allowed: [...found.methods.keys()] };
}

function walk(from: Node, segments: readonly string[], at: number, params: Record<string, number>): Node | undefined {
  const segment = segments[at];
  if (segment === undefined) return from.methods.size > 0 ? from : undefined;
  const literal = from.literal.get(segment);
  const found = literal && walk(literal, segments, at + 1, params);
  if (found) return found;
  // Ids are integers (general rule 4): anything else is no record's path.
  if (!from.param || !/^\d{1,15}$/u.test(segment)) return undefined;
  params[from.param.name] = Number(segment);
  return walk(from.param.node, segments, at + 1, params);
}
