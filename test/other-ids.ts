import type { SandboxWorld } from './sandbox-world.ts';

/** Ids as a service might give them: each of the sandbox's has one other, and the way back is the same. */
export type IdOrder = (id: number) => number;

/** Each new record has a smaller id than all before. */
export const falling: IdOrder = (id) => 1_000_000 - id;

/** In no order: its own inverse, for a prime as the modulus. */
const scattered: IdOrder = (id) => inverses[id] ?? power(id, modulus - 2);

export const idOrders = [
  ['fall', falling],
  ['are in no order', scattered],
] as const;

/** So small that the products stay whole numbers, and larger than any id of a test. */
const modulus = 15_013;

const power = (base: number, exponent: number): number => {
  let [all, square, left] = [1, base % modulus, exponent];
  for (; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) all = (all * square) % modulus;
    square = (square * square) % modulus;
  }
  return all;
};

const inverses: readonly number[] = Array.from({ length: 2000 }, (_, id) => power(id, modulus - 2));

const named =
  /"((?:contact|contacts_list|contact_list|ticket|conversation|message|phone_call|entry|post)?_?id)":(\d+)/gu;
const listed = /"contacts_ids":\[([\d,]*)\]/gu;

/** Every id in a text of JSON. The account's stays: it is none of a record. */
export const idsIn = (text: string, order: IdOrder): string =>
  text
    .replaceAll(named, (_, name, id) => `"${name}":${order(Number(id))}`)
    .replaceAll(listed, (_, ids: string) => `"contacts_ids":[${ids.split(',').map((id) => id && order(Number(id)))}]`);

const idsOf = (url: string, order: IdOrder): string =>
  url
    .replaceAll(/(?<=\/)\d+(?=\/|\?|$)/gu, (id) => String(order(Number(id))))
    .replaceAll(/(?<=[?&]contact_id=)\d+/gu, (id) => String(order(Number(id))));

/** The world of a sandbox whose ids are in another order: as they grow, its records are listed as before. */
export function withIds(world: SandboxWorld, order: IdOrder): SandboxWorld {
  const exchange: typeof world.exchange = async (request) => {
    const body = typeof request.body === 'string' ? idsIn(request.body, order) : request.body;
    const answer = await world.exchange({ ...request, url: idsOf(request.url, order), body });
    return 'lost' in answer ? answer : { ...answer, body: idsIn(answer.body, order) };
  };
  return { ...world, exchange };
}
