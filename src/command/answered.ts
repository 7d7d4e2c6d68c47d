import { fitted } from '../api/fit.ts';
import type { Operation, Output } from '../api/operation.ts';
import { fieldsOf } from '../api/shape.ts';
import { fieldsIn } from '../text/record.ts';

/** The record in an operation's answer, without the key that the service wraps it in. */
export type RecordOf<Op extends Operation> = Op['answer'] extends { readonly key: infer K extends keyof Output<Op> }
  ? Output<Op>[K]
  : Output<Op>;

/** The one cast of records: each field is of the promised kind, or empty (`fitted`). */
export function recordFitted<Op extends Operation>({ response, answer }: Op, record: unknown): RecordOf<Op> {
  const schema = answer.key === undefined ? response : fieldsOf(response)[answer.key]?.schema;
  return (schema ? fitted(schema, record) : record) as RecordOf<Op>;
}

/** The record itself, without the key that the service wraps it in; an empty one where the answer holds none. */
export function unwrap({ answer: { key } }: Pick<Operation, 'answer'>, answer: unknown): unknown {
  if (answer === undefined) return {};
  return key === undefined ? answer : (fieldsIn(answer)[key] ?? answer);
}
