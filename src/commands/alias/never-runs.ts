import { type AnyCommand, descend, type Param, runOf } from '../../command/command.ts';
import type { LoadNamed } from '../../command/find-command.ts';
import { argName } from '../../command/param.ts';
import { strangeFlags, typedFlags, wordsBeside } from '../../command/typed-flags.ts';
import { Failure } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';

/**
 * A line that is refused whatever is typed behind it, as far as its words tell: only some of them stand there yet. What
 * begins with a flag, or with a name of the user's own, is judged when it is run.
 * @throws Failure `usage`
 */
export async function refuseNeverRuns(words: readonly string[], load: LoadNamed): Promise<void> {
  const [first = '', ...others] = words;
  const { node, rest } = descend(await load(first), others);
  const path = words.slice(0, words.length - rest.length);
  const [word] = rest;
  if (node && 'commands' in node && !node.itself && word !== undefined && !word.startsWith('-'))
    throw never(`svc ${path.join(' ')} has no command "${sanitize(word)}".`, path);
  const command = runOf(node);
  if (command && !command.passThrough) refuseStrange(command, path, rest);
}

function refuseStrange(command: AnyCommand, path: readonly string[], words: readonly string[]): void {
  const [strange] = strangeFlags(words, command);
  if (strange) throw never(`svc ${path.join(' ')} has no flag ${sanitize(strange.name)}.`, path);
  const plain = wordsBeside(words, typedFlags(words, command)).filter((word) => word !== '--');
  const args = Object.entries<Param<unknown>>(command.args);
  if (plain.length <= args.length || args.some(([, { many }]) => many)) return;
  const taken = args.length === 0 ? 'no words' : `only ${args.map(([key, arg]) => argName(key, arg)).join(' ')}`;
  throw never(
    `svc ${path.join(' ')} takes ${taken}, and ${counted(plain.length, 'word')} ${plain.length === 1 ? 'stands' : 'stand'} behind it.`,
    path,
  );
}

const never = (fact: string, path: readonly string[]): Failure =>
  new Failure('usage', `COMMAND can never run: ${fact}`, { hint: `Run: svc ${path.join(' ')} --help` });
