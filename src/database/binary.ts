/** The number of the type `bytea` in every Postgres. */
const bytea = 17;
const headBytes = 20;

/** `bytea[]` in Postgres's binary form: as text it has twice the bytes, and both sides look at each of them. */
export function byteaArray(items: readonly Uint8Array[]): Buffer {
  const length = items.reduce((sum, item) => sum + 4 + item.length, headBytes);
  const bytes = Buffer.allocUnsafe(length);
  // One dimension, no nulls, the type, how many, and the number of the first.
  let at = [1, 0, bytea, items.length, 1].reduce((end, value) => bytes.writeInt32BE(value, end), 0);
  for (const item of items) {
    at = bytes.writeInt32BE(item.length, at);
    bytes.set(item, at);
    at += item.length;
  }
  return bytes;
}
