/** The value that a text writes in JSON; `otherwise` where it is no JSON. No JSON says undefined, so that tells them apart. */
export function jsonIn(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}

/** What a text writes in JSON, where it is such a value; else undefined. */
export function jsonAs<T>(text: string, isSuch: (value: unknown) => value is T): T | undefined {
  const value = jsonIn(text);
  return isSuch(value) ? value : undefined;
}
