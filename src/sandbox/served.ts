import { operations } from '../api/index.ts';
import type { Operation, Table } from '../api/operation.ts';
import type { Call, Handler, HandlersOf } from './handlers/handler.ts';
import { handlers } from './handlers/index.ts';
import { type Router, routerOf } from './router.ts';

/** What a sandbox serves: the way to each operation, and what answers it. */
export type Served = {
  readonly match: Router;
  readonly answer: (operation: Operation, call: Call) => object | Promise<object>;
};

/** Serves every operation of a table. One without a handler does not compile. */
export function servedBy<const T extends Table>(table: T, own: NoInfer<HandlersOf<T>>): Served {
  const byId = new Map<string, unknown>(Object.entries(table).map(([name, { id }]) => [id, own[name]]));
  return {
    match: routerOf(table),
    // The table's types were lost on the way through the router; each handler gets what its own entry judged.
    answer: (operation, call) => (byId.get(operation.id) as Handler<Operation>)(call) as object,
  };
}

/** The whole service. */
export const service: Served = servedBy(operations, handlers);
