import { digestOf } from '../../../text/digest.ts';
import type { Fields } from '../../../text/record.ts';
import { happeningIn } from '../../event/record-key.ts';
import { type Arrival, isRebuilt } from '../line.ts';

/** The key of a delivery. As JSON, so that ids that differ in half a surrogate pair differ. */
export const keyOf = (id: string): Buffer => digestOf(JSON.stringify(id));

/** The columns of a delivery, apart from its key. */
export const rowOf = (arrival: Arrival) => {
  const { body, ...about } = arrival;
  return {
    about: Buffer.from(JSON.stringify(about)),
    body: Buffer.from(body),
    record: arrival.happening === undefined ? (happeningIn(body) ?? null) : arrival.happening,
    isRebuilt: isRebuilt(arrival.id),
  };
};

/** What `rowOf` wrote; nobody else writes there. */
export const arrivalIn = ({ about, body }: Fields): Arrival => ({
  ...(JSON.parse(String(about)) as Omit<Arrival, 'body'>),
  body: body as Buffer,
});
