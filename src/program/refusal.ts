import type { CommanderError } from 'commander';
import { type Command, descend, type Group, type Param, runOf } from '../command/command.ts';
import { firstWordAt, valuedFlags } from '../command/global-flags.ts';
import { flagName } from '../command/param.ts';
import { Failure } from '../errors.ts';
import { capital } from '../text/capital.ts';
import { nearest } from '../text/near.ts';
import { shellWord, typedLine } from '../text/shell-word.ts';
import { didYouMean } from './did-you-mean.ts';
import { habitualFlag } from './habit-words.ts';

/** `words`: the arguments that it was given. */
type Refused = { readonly command?: readonly string[]; readonly words?: readonly string[] };

/**
 * What commander refused, as svc says it. `command`: the words of the command that refused, where one had been reached.
 * `loaded`: what the first of them names.
 */
export function refusal(
  { code, message, command = [], words = [] }: CommanderError & Refused,
  argv: readonly string[],
  loaded: Group | Command | undefined,
): Failure {
  const page = `Run: ${['svc', ...command].join(' ')} --help`;
  const rivals = /option '(?:-\w, )?(--[\w-]+)[^']*' cannot be used with option '(?:-\w, )?(--[\w-]+)/u.exec(message);
  if (rivals) {
    return new Failure('usage', `${rivals[1]} and ${rivals[2]} cannot be used together.`, {
      hint: 'Give one of them.',
    });
  }
  const bare = /option '(?:-\w, )?(--[\w-]+)[^']*' argument missing/u.exec(message);
  if (bare) {
    const own = runOf(descend(loaded, command.slice(1)).node);
    const choices = own && namedFlags(own).find(([name]) => `--${name}` === bare[1])?.[1].choices;
    return new Failure('usage', `${bare[1]} needs a value.`, {
      // The pages of the commands do not list the flags that every command takes.
      hint: command.length === 0 ? 'Run: svc help flags' : `${choices ? `One of ${choices.join(', ')}.\n` : ''}${page}`,
    });
  }
  // What stands behind the `=` may be a secret, of several lines too.
  const [fact = '', similar] = message
    .replace(/^error: (unknown option '[^'=\n]+)=.*'/su, "$1'")
    .replace(/^error: /u, '')
    .split('\n');
  const sentence = capital(fact);
  const typed = /^error: unknown option '(.+)'/su.exec(message)?.[1];
  const strange = typed?.replace(/=.*$/su, '');
  const suggestion = similar === undefined || strange === undefined ? undefined : slipOf(strange, similar);
  const on = { argv, path: command, loaded };
  const alone = code === 'commander.excessArguments' ? tooMany(words, on) : undefined;
  const meant = typed === undefined ? alone : meantBy(typed, on);
  return new Failure('usage', /[.!?]$/u.test(sentence) ? sentence : `${sentence}.`, {
    hint:
      (command.join(' ') === 'alias set' ? undefined : secretHint(strange, { argv, code })) ??
      meant ??
      suggestion ??
      page,
  });
}

/** People who know gh type `--with-token`, or the secret behind a flag. */
function secretHint(strange: string | undefined, { argv, code }: { argv: readonly string[]; code: string }) {
  const isMeant =
    strange === undefined
      ? code === 'commander.excessArguments' && argv.some((word) => /^--with-(?:api-key|m2m-token)$/u.test(word))
      : /^--(?:with-)?(?:api-key|m2m-token|token)(?:=|$)/u.test(strange);
  return isMeant
    ? 'No flag takes a secret. Give it on standard input: echo "$SVC_API_KEY" | svc login --with-api-key'
    : undefined;
}

type Typed = {
  readonly argv: readonly string[];
  readonly path: readonly string[];
  readonly loaded: Group | Command | undefined;
};

/** What agrees to something is typed by whoever means it. */
const agreeing = /^--(?:yes|send|force|again|restart|retry-unknown|allow-[\w-]+|insecure-http)\b/u;

/** Of the flags that commander takes for similar, one that this is a slip of: those of short names are similar to anything. */
function slipOf(strange: string, similar: string): string | undefined {
  const names = (similar.match(/--[\w-]+/gu) ?? []).filter((flag) => !agreeing.test(flag));
  const typed = strange.replace(/^--?/u, '');
  const meant = nearest(
    typed,
    names.map((flag) => flag.slice(2)),
    Math.min(2, Math.floor(typed.length / 3)),
  );
  return meant && `Did you mean --${meant}?`;
}

/** Anything else that stands on a command line may be a secret. */
const isPlainWord = (word: string): boolean => /^[\p{L}\p{M}'’-]{1,24}[.,;:!?]?$/u.test(word);
const fileWord = /^[\w./-]{0,100}\.(?:csv|tsv|jsonl?|ndjson|ya?ml|txt|md|html|parquet|zip)$/iu;
const profileWord = /^[a-z][a-z-]{0,20}\d{0,2}$/iu;
const ofOneProfile = new Set([
  'logout',
  'whoami',
  ...['logout', 'status', 'keep', 'refresh', 'token'].map((word) => `auth ${word}`),
]);
const eventWord = /^[a-z]{1,20}\.[a-z_]{1,30}$/u;
const idWord = /^(?:#?\d+|T-\d+|[^@\s]+@[^@\s]+)$/iu;

/** `--subject Export stops`: what to do about the first of the words that nothing takes. */
function tooMany(words: readonly string[], typed: Typed): string | undefined {
  const command = runOf(descend(typed.loaded, typed.path.slice(1)).node);
  const word = command && words[Object.keys(command.args).length];
  if (!command || word === undefined) return undefined;
  const { argv, path } = typed;
  // Without the name, the line would act on the login of another profile.
  if (ofOneProfile.has(path.join(' ')))
    return profileWord.test(word)
      ? `Did you mean: svc -p ${word} ${path.join(' ')}`
      : `To name a profile: svc -p NAME ${path.join(' ')}`;
  const line = ['svc', ...path].join(' ');
  const flags = namedFlags(command);
  const text = ['body', 'description', 'content'].find((name) =>
    flags.some(([one, { completes }]) => one === name && completes !== 'files'),
  );
  if (eventWord.test(word) && flags.some(([name]) => name === 'events')) return `Did you mean --events ${word}?`;
  const before = argv.slice(0, argv.indexOf(word)).findLast((one) => one.startsWith('--'));
  const isBehindFlag = flags.some(
    ([name, own]) => `--${name}` === before && own.placeholder !== undefined && !own.choices,
  );
  if (fileWord.test(word)) return behindFileFlag(word, command, typed);
  if (isBehindFlag)
    return `${isPlainWord(word) ? `Nothing takes '${word}'. ` : ''}Put quotes around a text of several words.`;
  const app =
    path.join(' ') === 'webhooks listen'
      ? /^(?:(?:http:\/\/)?localhost:)?(\d{2,5}(?:\/[\w./-]*)?)$/u.exec(word)?.[1]
      : undefined;
  if (app !== undefined) return `To pass them on to an app: --forward-to http://localhost:${app}`;
  if (Object.values<Param<unknown>>(command.args).some(({ choices }) => choices?.includes(word)))
    return `Did you mean: ${line} ${word}`;
  const isGiven = argv.some((one) => one.startsWith(`--${text}`) || /^--(?:editor|template)\b/u.test(one));
  const people = command.args.id && flags.find(([name, { record }]) => name === 'contact' && record !== undefined);
  if (people && idWord.test(word)) return `Did you mean --contact ${shellWord(word)}?`;
  if (command.args.id && !command.args.id.many && (idWord.test(word) || (text !== undefined && isGiven)))
    return `${line} takes one ID.${command.flags.from ? ` For several: ${line} --from FILE` : ''}`;
  if (text !== undefined) return `Put a text behind --${text}, in quotes.`;
  return `${isPlainWord(word) ? `Leave out '${word}'. ` : ''}Run: ${line} --help`;
}

/** The flag that takes such a file, unless the command has one already. */
function behindFileFlag(word: string, command: Command, { argv, path }: Typed): string {
  const isRows = /\.(?:csv|tsv|jsonl|ndjson)$/iu.test(word);
  const likely = isRows ? ['from', 'out', 'config', 'body'] : ['body-file', 'content-file', 'config', 'body', 'out'];
  const taking = namedFlags(command).flatMap(([name, { completes }]) => (completes === 'files' ? [name] : []));
  const name = likely.find((one) => taking.includes(one));
  const isGiven = argv.some((one) => one === `--${name}` || one.startsWith(`--${name}=`));
  if (isGiven || Object.values<Param<unknown>>(command.args).some(({ completes }) => completes === 'files'))
    return 'One file at a time: run the command once for each.';
  return name === undefined ? `Run: ${['svc', ...path].join(' ')} --help` : `Did you mean --${name} ${word}?`;
}

const namedFlags = ({ flags }: Command) =>
  Object.entries<Param<unknown>>(flags).map(([key, own]) => [flagName(key, own), own] as const);

function meantBy(flag: string, { argv, path, loaded }: Typed): string | undefined {
  if (path.join(' ') === 'alias set') return quotedAlias(argv);
  const { node } = descend(loaded, path.slice(1));
  if (node && 'commands' in node && !node.itself) return flagOfChild(flag, node, { argv, path });
  const command = runOf(node);
  if (command && path.join(' ') === 'each') return behindDashes(argv, command);
  return command && habitualFlag(flag, command, path.join(' '));
}

/** `svc each --all tickets list --limit 1`: what stands in front of the command is of each, and so is any flag without --. */
function behindDashes(argv: readonly string[], command: Command): string | undefined {
  const own = Object.entries<Param<unknown>>(command.flags).flatMap(([key, flag]) =>
    flag.placeholder === undefined ? [] : [`--${flagName(key, flag)}`],
  );
  const isValue = (at: number) => own.includes(argv[at - 1] ?? '') || valuedFlags.has(argv[at - 1] ?? '');
  const each = firstWordAt(argv);
  const at = argv.findIndex((word, place) => place > each && !word.startsWith('-') && !isValue(place));
  if (at < 0 || argv.slice(0, at).includes('--')) return undefined;
  return `The flags of COMMAND stand behind --. Run: svc ${typedLine(argv.toSpliced(at, 0, '--'))}`;
}

/** `svc tickets --status open`: a flag of one of its commands, of `list` where that has it. */
function flagOfChild(
  flag: string,
  { commands }: Group,
  { argv, path }: Pick<Typed, 'argv' | 'path'>,
): string | undefined {
  const word = flag.replace(/=.*$/su, '');
  const having = commands.filter((one): one is Command => !('commands' in one) && hasFlag(one, word));
  const at = argv.indexOf(flag);
  const behind = argv.slice(at);
  // `svc tickets --status open list`: the command stands there already, behind its flag.
  const place = behind.findIndex((one, i) => i > 0 && having.some(({ name }) => name === one));
  // One that is typed and has no such flag is meant all the same.
  const isOther = place < 0 && behind.some((one, i) => i > 0 && commands.some(({ name }) => name === one));
  const child = isOther ? undefined : (having.find(({ name }) => name === (behind[place] ?? 'list')) ?? having[0]);
  if (!child || at < 0) return undefined;
  const rest = behind.filter((_, i) => i !== place);
  const line = [...argv.slice(0, firstWordAt(argv)), ...path, child.name, ...rest];
  return `${word} is of its commands. ${didYouMean(line, [...path, child.name], child)}`;
}

const hasFlag = ({ flags }: Command, flag: string): boolean =>
  Object.entries(flags).some(([key, own]) => `--${flagName(key, own)}` === flag);

/** `svc alias set mine tickets list --status x`: the flag is the command's that it is to stand for. */
function quotedAlias(argv: readonly string[]): string | undefined {
  const at = argv.indexOf('set') + 1;
  const [name, ...words] = argv.slice(at);
  if (at === 0 || name === undefined || name.startsWith('-') || words.length < 2) return undefined;
  const command = shellWord(typedLine(words));
  return `COMMAND stands in quotes. Run: svc ${typedLine([...argv.slice(0, at), name])} ${command}`;
}
