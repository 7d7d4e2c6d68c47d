import type { Operations } from '../../api/index.ts';
import type { Operation, Output, Part, Table } from '../../api/operation.ts';
import type { WebhookEvent } from '../../api/webhooks.ts';
import type { Fields } from '../../text/record.ts';
import type { Refusal } from '../answer.ts';
import type { Row } from '../store/records.ts';
import type { State } from '../store/state.ts';

/** A request that was let in: its token, scope, module, record and fields have been judged. */
export type Call<Op extends Operation = Operation> = {
  readonly state: State;
  readonly account: Row<'accounts'>;
  /** The connection behind an OAuth token; webhook subscriptions belong to it. */
  readonly connection: string | undefined;
  readonly now: string;
  readonly params: Part<Op['params']>;
  readonly query: Part<Op['query']>;
  readonly body: Part<Op['body']>;
  readonly emit: Emit;
  readonly random: (bytes: number) => Uint8Array;
  readonly allowHttpTargets: boolean;
};

/** Tells the account's subscribers that something happened. */
export type Emit = (event: WebhookEvent, account: number, data: Fields) => void;

type Result<Op extends Operation> = Output<Op> | Refusal;

/**
 * Answers one operation with what its entry in the table says. One that must load a library first awaits that before
 * it looks at the state: what follows happens in one go.
 */
type Handler<Op extends Operation> = (call: Call<Op>) => Result<Op> | Promise<Result<Op>>;

/** One for each operation of a table: leaving one out does not compile. */
export type HandlersOf<T extends Table> = { readonly [K in keyof T]: Handler<T[K]> };

export type Handlers = HandlersOf<Operations>;
