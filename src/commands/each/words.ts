import { hearersOf } from '../../api/hearers.ts';
import { type AnyCommand, operationOf } from '../../command/command.ts';
import { confirmed } from '../../command/confirm.ts';
import { takesDryRun } from '../../command/dry-run.ts';
import type { FindCommand } from '../../command/find-command.ts';
import { withoutOverridden } from '../../command/overridden.ts';
import { type TypedFlag, typedFlags, wordsBeside } from '../../command/typed-flags.ts';
import { unaliased } from '../../config/aliases.ts';
import { readConfig } from '../../config/config-file.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { shellWord } from '../../text/shell-word.ts';
import { countedLogins, type Login, sharing } from './chosen.ts';

/** Of no account, for a person at a terminal, or without an end. */
const notForEach: readonly string[] = [
  ...['each', 'login', 'auth login', 'auth switch', 'auth keep', 'inbox', 'watch', 'webhooks listen', 'webhooks serve'],
  ...['sandbox', 'completion', 'alias', 'help', 'mcp'],
];

export type Asked = {
  /** What is behind `svc`, with a name of the user's own replaced. */
  readonly words: readonly string[];
  readonly command: AnyCommand;
  readonly typed: readonly TypedFlag[];
};

export async function commandOf(ctx: Context, given: readonly string[], find: FindCommand): Promise<Asked> {
  const typed = given[0] === 'svc' ? given.slice(1) : given;
  refuseNoCommand(typed);
  const isKnown = (await find([typed[0] ?? ''])) !== undefined || (await find(typed)) !== undefined;
  const expanded = isKnown
    ? { words: typed, depths: [] }
    : unaliased(typed, await readConfig(ctx.files), (line) => (line === typed ? 0 : -1));
  const command = await find(expanded.words);
  const words = await withoutOverridden(expanded, find);
  refuseNoCommand(words);
  const refused = notForEach.find((name) => `${words.slice(0, 2).join(' ')} `.startsWith(`${name} `));
  if (refused !== undefined) throw new Failure('usage', `svc ${refused} is not run for each account.`);
  if (!command) {
    throw new Failure('usage', `svc has no command "${typed.slice(0, 2).join(' ')}"; nothing was run.`, {
      hint: 'To see the commands: svc --help',
    });
  }
  const flags = typedFlags(words, command);
  const named = flags.find(({ name, param }) => !param && /^(?:-p|--profile)$/u.test(name));
  if (named !== undefined) {
    const said = [named.name, ...(named.value === undefined ? [] : [shellWord(named.value)])].join(' ');
    throw new Failure('usage', `COMMAND names a profile itself (${said}); nothing was run.`, {
      hint: 'Leave it out: --profiles GLOB or --all says which are meant.',
    });
  }
  return { words, command, typed: flags };
}

function refuseNoCommand([first = '']: readonly string[]): void {
  if (first !== '' && !first.startsWith('-')) return;
  throw new Failure('usage', `COMMAND begins with a command of svc, not with "${first}".`, {
    hint: 'For example: svc each --all -- tickets list --status open',
  });
}

const hasFlag = ({ typed }: Asked, names: readonly string[]): boolean =>
  typed.some(({ name, param }) => names.includes(name) && param?.placeholder === undefined);

const onlyShows = (asked: Asked): boolean =>
  hasFlag(asked, ['--dry-run', '--check', '--help', '-h']) || asked.command.onlyReads?.(asked.words.slice(1)) === true;

/** What stands in the name of a file for the profile whose it is. */
const ofProfile = '{profile}';

/** A file that the command writes has the profile in its name, where there are several. @throws Failure `usage` */
export function refuseOneFile({ typed }: Asked, logins: readonly Login[]): void {
  const shared = typed.find(
    ({ param, value = '-' }) => param?.isWritten && !/^(?:-|\/dev\/null)$/u.test(value) && !value.includes(ofProfile),
  );
  if (!shared || logins.length < 2) return;
  const named = (shared.value ?? '').replace(/[^/\\]*$/u, (file) => `${ofProfile}.${file}`);
  throw new Failure('usage', `${shared.name} names one file for ${countedLogins(logins)}; nothing was run.`, {
    hint: `Put ${ofProfile} into its name, for a file each: ${shared.name} ${shellWord(named)}`,
  });
}

/** The words as they are run for a profile. */
export const wordsFor = ({ words, typed }: Asked, { profile }: Login): readonly string[] => {
  const files = new Set(typed.flatMap(({ param, at }) => (param?.isWritten ? [at] : [])));
  return words.map((word, at) => (files.has(at) ? word.replaceAll(ofProfile, () => profile) : word));
};

/** A send or a delete is asked for once. Returns whether the command need not ask again. */
export async function agreed(ctx: Context, settings: Settings, asked: Asked, count: number): Promise<boolean> {
  if (settings.yes) return true;
  const { words, command } = asked;
  if (count === 0 || onlyShows(asked) || hasFlag(asked, ['--yes', '-y'])) return false;
  const operation = operationOf(command);
  const isHeard =
    command.sends === true ||
    command.publishes === true ||
    (operation !== undefined && hearersOf(operation) !== undefined);
  const isLost = operation?.deletes === true || (!isHeard && command.row?.question !== undefined);
  if (!isHeard && !isLost) return false;
  // A person sees each of them later.
  // What is published already is changed by a release in any case.
  const isKept =
    (!command.publishes && hasFlag(asked, ['--draft'])) || ((await ctx.sends?.mode()) ?? 'allow') !== 'allow';
  if (isHeard && !isLost && isKept) return false;
  const shown = ['svc', ...words].map(shellWord).join(' ');
  await confirmed(ctx, settings, `Run ${shown} for ${counted(count, 'account')}?`);
  return true;
}

/** Of the global flags those that say what is done, and not how long or in which form. */
const telling: ReadonlySet<string> = new Set(['--base-url', '--auth-url', '--live', '--insecure-http']);

/** What the same command is known by, in whatever order its flags stand. */
export function knownBy({ words, typed }: Asked): readonly string[] {
  const isForm = ({ key, param }: TypedFlag) => !param && key !== undefined && !telling.has(key);
  const flags = typed
    .filter((flag) => !isForm(flag))
    .map(({ key, name, value }) => [key ?? name, value ?? []].flat().join('='));
  return [...wordsBeside(words, typed), ...flags.sort()];
}

/** What it has done it does not do again to be read. */
export function isWrite(asked: Asked): boolean {
  const { command } = asked;
  const { safety = 'read' } = operationOf(command) ?? {};
  return (safety !== 'read' || takesDryRun(command)) && !onlyShows(asked);
}

/** @throws Failure `usage` where a write would be made twice in one account */
export function refuseTwice(asked: Asked, logins: readonly Login[]): void {
  const [same] = sharing(logins);
  if (!isWrite(asked)) return;
  const unknown = logins.filter(({ of }) => of === undefined).map(({ profile }) => profile);
  if (same === undefined && unknown.length > 0 && logins.length > 1) {
    throw new Failure(
      'usage',
      `svc does not know the account of ${listed(unknown)}, so it might be done twice there.`,
      { hint: 'Log in again with the scope identity, or name one of them: --profiles NAME. Nothing was run.' },
    );
  }
  if (same === undefined) return;
  throw new Failure('usage', `${same.join(' and ')} log in to one account, so it would be done twice there.`, {
    hint: 'Name one of them: --profiles NAME,NAME. Nothing was run.',
  });
}
