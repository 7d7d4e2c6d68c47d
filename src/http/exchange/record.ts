import { operationList } from '../../api/index.ts';
import type { Operation } from '../../api/operation.ts';
import { type Fields, fieldsIn, isRecord } from '../../text/record.ts';

/** The operation that reads one record of that kind; undefined where there is none. */
export const readerOf = (resource: string): Operation | undefined =>
  operationList.find(
    (each) => each.resource === resource && each.ids && each.safety === 'read' && each.answer.shape === 'record',
  );

/** The operation that lists records of that kind. Those with an id in their path, such as members, are of others. */
export const listerOf = (resource: string): Operation | undefined =>
  operationList.find(
    ({ answer, params, resource: own }) => answer.shape === 'list' && !params && (answer.of ?? own) === resource,
  );

/** `record` is undefined where the answer shows none. */
type ReadRecord = {
  readonly operation: Operation;
  readonly answer: unknown;
  readonly record: Fields | undefined;
};

/** A record as it is now. Undefined where there is no id, or no operation that reads one of its kind. */
export async function readRecord(
  read: (operation: Operation, params: Readonly<Record<string, number>>) => Promise<unknown>,
  resource: string,
  id: number | null | undefined,
): Promise<ReadRecord | undefined> {
  const operation = readerOf(resource);
  const [name] = Object.keys(operation?.ids ?? {});
  if (!operation || name === undefined || id === null || id === undefined) return undefined;
  const answer = await read(operation, { [name]: id });
  const { key } = operation.answer;
  const record = key === undefined ? answer : fieldsIn(answer)[key];
  return { operation, answer, record: isRecord(record) ? record : undefined };
}
