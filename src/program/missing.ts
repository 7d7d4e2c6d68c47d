import type { Param } from '../command/command.ts';
import { argName, flagName } from '../command/param.ts';
import { withOwnExample } from '../disk/place/own-example.ts';
import { Failure } from '../errors.ts';
import { listed } from '../text/listed.ts';
import type { Invocation, Slot } from './invocation.ts';

export const labelOf = (of: Slot['of'], key: string, param: Pick<Param<unknown>, 'name' | 'placeholder'>): string =>
  of === 'args' ? argName(key, param) : `--${flagName(key, param)}`;

/** Exit 2 that names all of it at once, and how it can be given. */
export async function refuseMissing(missing: readonly Slot[], { path, command }: Invocation): Promise<void> {
  // Of a text alone the command itself says in which ways it can come.
  if (missing.every(({ param }) => param.written)) return;
  const labels = missing.map(({ label }) => label);
  const instead = new Map<string, string[]>();
  for (const { label, param } of missing) {
    const labels = (param.unless ?? []).map((key) => labelOf('flags', key, command.flags[key] ?? {}));
    const flags = listed(labels, 'or');
    if (flags) instead.set(flags, [...(instead.get(flags) ?? []), label]);
  }
  const ways = [...instead].map(([flags, of]) => `Instead of ${listed(of)} you can give ${flags}.`);
  throw new Failure('usage', `${listed(labels)} ${labels.length === 1 ? 'is' : 'are'} required.`, {
    hint:
      [...ways, `Run: svc ${path} --help`].join(' ') +
      (ways.length === 0 ? exampleFor(missing, command) : '') +
      byStdin(missing, { path, command }) +
      (await listingOf(missing)),
  });
}

/** Of a text that is missing the command itself would say so, and never comes to it where something else is wrong. */
export function withMissing(error: unknown, missing: readonly Slot[]): unknown {
  if (missing.length === 0 || !(error instanceof Failure) || error.kind !== 'usage') return error;
  const labels = listed(missing.map(({ label }) => label));
  const also = `${labels} ${missing.length === 1 ? 'is' : 'are'} required as well.`;
  return new Failure('usage', error.message, { hint: error.hint ? `${also}\n${error.hint}` : also, cause: error });
}

/** A file that is missed may have been given with `<`. */
function byStdin([slot, ...others]: readonly Slot[], { path, command }: Pick<Invocation, 'path' | 'command'>): string {
  if (slot?.of !== 'args' || slot.param.completes !== 'files' || others.length > 0) return '';
  const args = Object.entries<Param<unknown>>(command.args).map(([key, arg]) =>
    key === slot.key ? '-' : argName(key, arg),
  );
  return `\nTo read standard input: svc ${[path, ...args].join(' ')}`;
}

/** An id that is missing is found in a list. */
async function listingOf(missing: readonly Slot[]): Promise<string> {
  const slot = missing.find(({ of, param }) => of === 'args' && listedIn(param));
  if (!slot) return '';
  const { listing } = await import('./asking.ts');
  const line = listing(slot);
  return line === undefined ? '' : `\nTo find one: svc ${line}`;
}

/**
 * How a flag alone is filled is best seen in a line that has it, and arguments in the first one. What a list or a file has
 * is told otherwise.
 */
function exampleFor(missing: readonly Slot[], { examples }: Invocation['command']): string {
  const [{ label = '' } = {}, ...others] = missing;
  const areTyped = missing.every(({ of, param }) => of === 'args' && !listedIn(param) && param.completes !== 'files');
  const example = areTyped ? examples[0] : examples.find((line) => line.split(' ').includes(label));
  const isShown = areTyped || (label.startsWith('-') && others.length === 0);
  return !isShown || example === undefined ? '' : `\nFor example: ${withOwnExample(example)}`;
}

const listedIn = ({ from, record }: Slot['param']): boolean => (from ?? record) !== undefined;
