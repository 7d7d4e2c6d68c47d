import { Failure } from '../../errors.ts';
import type { KindName } from '../../mirror/tables/kinds.ts';
import { nearHint } from '../../text/near.ts';

/** `--only KIND,…`: all without it. */
export async function kindsFrom(text: string | undefined): Promise<readonly KindName[]> {
  const { kindNames } = await import('../../mirror/tables/kinds.ts');
  if (text === undefined) return kindNames;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !kindNames.some((kind) => kind === name));
  if (unknown === undefined) return kindNames.filter((kind) => names.includes(kind));
  throw new Failure('usage', `--only: there is no kind "${unknown}".`, {
    hint: nearHint(unknown, kindNames) ?? `Kinds: ${kindNames.join(', ')}.`,
  });
}
