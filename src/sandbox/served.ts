import { operations } from '../api/index.ts';
import type { Operation, Table } from '../api/operation.ts';
import type { Call, HandlersOf } from './handlers/handler.ts';
import { handlers } from './handlers/index.ts';
import { routerOf } from './router.ts';

/** What a sandbox serves: the way to each operation, and what answers it. */
export type Served = ReturnType<typeof servedBy>;

type Answering = (call: Call) => object | Promise<object>;

/** Serves every operation of a table. One without a handler does not compile. */
export function servedBy<const T extends Table>(table: T, own: NoInfer<HandlersOf<T>>) {
  // The router does not keep the table's types: each handler gets what its own entry judged.
  const byId = new Map(Object.entries(table).map(([name, { id }]) => [id, own[name] as Answering]));
  return {
    match: routerOf(table),
    answer(operation: Operation, call: Call) {
      const handler = byId.get(operation.id);
      if (!handler) throw new Error(`Nothing answers ${operation.id}.`);
      return handler(call);
    },
  };
}

/** The whole service. */
export const service: Served = servedBy(operations, handlers);
