/** Closes what they are read from after the last of them, also where nobody reads so far. */
export async function* thenClosed<T>(
  records: Iterable<T> | AsyncIterable<T>,
  source: { readonly close: () => Promise<void> },
): AsyncGenerator<T> {
  try {
    yield* records;
  } finally {
    await source.close();
  }
}
