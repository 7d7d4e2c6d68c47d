/** The value that a text writes in JSON; `otherwise` where it is no JSON. No JSON says undefined, so that tells them apart. */
export function jsonIn(text: string, otherwise?: unknown): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return otherwise;
  }
}
