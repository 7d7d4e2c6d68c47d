import type { AnyCommand, Param } from './command.ts';
import { switchFlags } from './global-flags.ts';
import { flagName } from './param.ts';

export type TypedFlag = {
  /** As typed, with its dashes. */
  readonly name: string;
  readonly value: string | undefined;
  /** In which word the value is; the flag's own where it has none. */
  readonly at: number;
  /** Undefined for a global flag, and for one that the command does not know. */
  readonly param: Param<unknown> | undefined;
};

/** The flags of a line, and nothing that is the value of one: a text may read `--dry-run`. In doubt a word is a value. */
export function typedFlags(words: readonly string[], command: Pick<AnyCommand, 'flags'>): TypedFlag[] {
  const known = new Map<string, Param<unknown>>();
  for (const [key, param] of Object.entries<Param<unknown>>(command.flags)) {
    for (const name of [flagName(key, param), ...(param.aliases ?? [])]) known.set(`--${name}`, param);
    if (param.short !== undefined) known.set(`-${param.short}`, param);
  }
  const flags: TypedFlag[] = [];
  for (let at = 0; at < words.length && words[at] !== '--'; at++) {
    const word = words[at] ?? '';
    if (!/^-./u.test(word)) continue;
    const [, long, joined] = /^(--[^=]*)=(.*)$/su.exec(word) ?? [];
    const name = long ?? word;
    const param = known.get(name);
    const isSwitch = param ? param.placeholder === undefined : switchFlags.has(name) || /^(?:-h|--help)$/u.test(name);
    if (joined !== undefined || isSwitch) flags.push({ name, value: joined, at, param });
    else flags.push({ name, value: words[++at], at, param });
  }
  return flags;
}
