import { hearersOf } from '../../api/hearers.ts';
import type { AnyCommand } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { dryRunKey } from '../../command/dry-run.ts';
import { unaliased } from '../../config/aliases.ts';
import { readConfig } from '../../config/config-file.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import { shellWord } from '../../text/shell-word.ts';
import { type Login, sharing } from './chosen.ts';

/** The command that words of a command line name; undefined where there is none. Groups do not import each other. */
export type FindCommand = (words: readonly string[]) => Promise<AnyCommand | undefined>;

/** Of no account, for a person at a terminal, or without an end. */
const notForEach: readonly string[] = [
  ...['each', 'login', 'auth login', 'inbox', 'watch', 'webhooks listen', 'webhooks serve'],
  ...['sandbox', 'completion', 'alias', 'help', 'mcp'],
];

type Asked = { readonly words: readonly string[]; readonly command: AnyCommand };

/** What is behind `svc`, with a name of the user's own replaced. */
export async function commandOf(ctx: Context, given: readonly string[], find: FindCommand): Promise<Asked> {
  const typed = given[0] === 'svc' ? given.slice(1) : given;
  const [first = ''] = typed;
  if (first === '' || first.startsWith('-')) {
    throw new Failure('usage', `COMMAND begins with a command of svc, not with "${first}".`, {
      hint: 'For example: svc each --all -- tickets list --status open',
    });
  }
  const before = typed.includes('--') ? typed.slice(0, typed.indexOf('--')) : typed;
  const named = before.find((word) => /^(?:-p.*|--profile(?:=.*)?)$/u.test(word));
  if (named !== undefined) {
    throw new Failure('usage', `COMMAND names a profile itself (${named}); nothing was run.`, {
      hint: 'Leave it out: --profiles GLOB or --all says which are meant.',
    });
  }
  const isKnown = (await find([first])) !== undefined || (await find(typed)) !== undefined;
  const words = isKnown ? typed : unaliased(typed, await readConfig(ctx.files), (line) => (line === typed ? 0 : -1));
  const refused = notForEach.find((name) => `${words.slice(0, 2).join(' ')} `.startsWith(`${name} `));
  if (refused !== undefined) throw new Failure('usage', `svc ${refused} is not run for each account.`);
  const command = await find(words);
  if (!command) {
    throw new Failure('usage', `svc has no command "${typed.slice(0, 2).join(' ')}"; nothing was run.`, {
      hint: 'To see the commands: svc --help',
    });
  }
  return { words, command };
}

const onlyShows = ({ words, command }: Asked): boolean =>
  words.some((word) => /^(?:--dry-run|--help|-h)$/u.test(word)) || command.onlyReads?.(words.slice(1)) === true;

/** A send or a delete is asked for once. Returns whether the command need not ask again. */
export async function agreed(ctx: Context, settings: Settings, asked: Asked, count: number): Promise<boolean> {
  if (settings.yes) return true;
  const { words, command } = asked;
  if (count === 0 || onlyShows(asked) || words.some((word) => /^(?:--yes|-y)$/u.test(word))) return false;
  const operation = command.operation ?? command.row?.operation;
  const isHeard = command.sends === true || (operation !== undefined && hearersOf(operation) !== undefined);
  const isLost = operation?.deletes === true || command.row?.question !== undefined;
  if (!isHeard && !isLost) return false;
  // A person sees each of them later.
  if (isHeard && !isLost && ((await ctx.sends?.mode()) ?? 'allow') !== 'allow') return false;
  const shown = ['svc', ...words].map(shellWord).join(' ');
  await confirmed(ctx, settings, `Run ${shown} for ${counted(count, 'account')}?`);
  return true;
}

/** @throws Failure `usage` where a write would be made twice in one account */
export function refuseTwice(asked: Asked, logins: readonly Login[]): void {
  const { command } = asked;
  const { safety = 'read' } = command.operation ?? command.row?.operation ?? {};
  const isWrite = safety !== 'read' || dryRunKey in command.flags || 'dryRun' in command.flags;
  const same = sharing(logins);
  if (!isWrite || onlyShows(asked) || same === undefined) return;
  throw new Failure('usage', `${same.join(' and ')} log in to one account, so it would be done twice there.`, {
    hint: 'Name one of them: --profiles NAME,NAME. Nothing was run.',
  });
}
