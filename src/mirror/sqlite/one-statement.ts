/** What no statement goes on with, and what ends a comment that is still open. */
const nonsense = '\n*/ @@';

/**
 * The text's one statement, without its semicolon. The engine itself says where it ends, and whether more follows.
 * The same as in sqlite-worker.cjs, which cannot import it.
 *
 * @param prepare throws where the text's first statement does not compile
 */
export function oneStatement(text: string, prepare: (text: string) => unknown): string {
  for (let at = text.indexOf(';'); at >= 0; at = text.indexOf(';', at + 1)) {
    if (failure(prepare, text.slice(0, at + 1) + nonsense) !== undefined) continue;
    if (!/no statements/u.test(failure(prepare, text.slice(at + 1)) ?? '')) {
      throw new Error('several statements; give one at a time');
    }
    return text.slice(0, at);
  }
  return text;
}

function failure(prepare: (text: string) => unknown, text: string): string | undefined {
  try {
    prepare(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
