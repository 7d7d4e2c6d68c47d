import { Failure } from '../errors.ts';

/** The one of these words that it is. Throws a usage Failure that names them; `by`: the flag, variable or key that gave it. */
export function oneOf<const C extends string>(
  choices: readonly C[],
  { text, by }: { readonly text: string; readonly by: string },
  hint?: string,
): C {
  const found = choices.find((one) => one === text);
  if (found !== undefined) return found;
  throw new Failure('usage', `${by} must be one of ${choices.join(', ')}, not "${text}".`, { hint });
}
