import type { Unaliased } from '../config/aliases.ts';
import type { AnyCommand } from './command.ts';
import type { FindCommand } from './find-command.ts';
import { firstWordAt } from './global-flags.ts';
import { typedFlags } from './typed-flags.ts';

/** The words without the flags of an alias that are given again behind it: what is typed there holds. */
export async function withoutOverridden({ words, depths }: Unaliased, find: FindCommand): Promise<readonly string[]> {
  const command = await find(words.slice(Math.max(0, firstWordAt(words))));
  if (!command) return words;
  const at = innerAt(words, command);
  const own = keptOf(words.slice(0, at), depths, command);
  if (at === words.length) return own;
  return [...own, ...(await withoutOverridden({ words: words.slice(at), depths: depths.slice(at) }, find))];
}

/** Where the words begin of what `each`, `sandbox exec` or `rehearse` runs. A program that is not svc is left as it is. */
function innerAt(words: readonly string[], { name, passThrough }: AnyCommand): number {
  const dashes = name === 'each' ? words.indexOf('--') + 1 : 0;
  const isOfSvc = passThrough || name === 'rehearse' || (dashes > 0 && words[dashes] === 'svc');
  return (isOfSvc && words.indexOf('svc', dashes) + 1) || dashes || words.length;
}

function keptOf(words: readonly string[], depths: readonly number[], command: AnyCommand): readonly string[] {
  const flags = typedFlags(words, command).filter(
    ({ key, value, param }) => key !== undefined && value !== undefined && !param?.many,
  );
  const depth = (at: number) => depths[at] ?? 0;
  const kept = new Map(words.entries());
  for (const { key, name, value = '', at } of flags) {
    if (!flags.some((other) => other.key === key && other.at > at && depth(other.at) < depth(at))) continue;
    // The value is a word of its own, or in the flag's; switches may stand in front there, as in `-yp acme`.
    const isApart = words[at] === value;
    const word = isApart ? words[at - 1] : words[at]?.slice(0, -value.length);
    const switches = word === undefined || word.startsWith('--') ? '' : word.slice(0, 1 - name.length);
    if (isApart) kept.delete(at);
    const place = isApart ? at - 1 : at;
    if (switches.length > 1) kept.set(place, switches);
    else kept.delete(place);
  }
  return [...kept.values()];
}
