import { type AnyCommand, descend, type Group, runOf } from '../command/command.ts';
import { isHelpFlag } from '../command/flag-words.ts';
import { strangeFlags } from '../command/typed-flags.ts';
import { Failure } from '../errors.ts';
import { typedLine } from '../text/shell-word.ts';
import { leadingWords } from './leading-words.ts';

/** What stands behind `--` is another program's. */
const ownWords = (argv: readonly string[]): readonly string[] => {
  const end = argv.indexOf('--');
  return end < 0 ? argv : argv.slice(0, end);
};

/** `svc tickets list --help --json`: the command as data. */
export function asksData(argv: readonly string[]): boolean {
  const words = ownWords(argv);
  const isJson = words.some(
    (word, at) =>
      /^(?:--json|--output=json|-ojson)$/u.test(word) || (/^(?:-o|--output)$/u.test(word) && words[at + 1] === 'json'),
  );
  return isJson && words.some(isHelpFlag);
}

const fieldNames = /^[a-z_]+(?:\.[a-z_]+)*(?:,[a-z_]+(?:\.[a-z_]+)*)*$/u;

/** gh has the fields behind --json: `svc tickets list --json id,subject`. A comma shows what is meant. */
export function refuseFieldsBehindJson(argv: readonly string[], loaded: Group | AnyCommand | undefined): void {
  const meant = fieldsMeant(argv);
  const command = meant && runOf(descend(loaded, leadingWords(argv).slice(1)).node);
  // It is named first: a line with it could not be typed.
  if (command && strangeFlags(ownWords(argv), command).some(({ name }) => !name.startsWith('--json'))) return;
  if (meant) throw meant;
}

function fieldsMeant(argv: readonly string[]): Failure | undefined {
  const joined = ownWords(argv).findIndex((word) => /^--json=(?!(?:true|false)$)/u.test(word));
  const fields = argv[joined]?.slice('--json='.length) ?? '';
  if (fieldNames.test(fields)) return meantFields(argv.toSpliced(joined, 1, '--json', fields), joined + 1);
  const at = placeOf(argv);
  return at >= 0 && argv[at]?.includes(',') ? meantFields(argv, at) : undefined;
}

/** The same of a single field beside ids, none of which looks like one: `svc tickets get 8 --json subject`. */
export function refuseFieldAmongIds(argv: readonly string[], ids: readonly string[]): void {
  const at = placeOf(argv);
  if (at >= 0 && ids.includes(argv[at] ?? '')) throw meantFields(argv, at);
}

/** The same of a single field, where the command takes no such word. */
export function fieldsBehindJson(argv: readonly string[], { code }: { readonly code: string }): Failure | undefined {
  const at = code === 'commander.excessArguments' ? placeOf(argv) : -1;
  return at < 0 ? undefined : meantFields(argv, at);
}

/** Of the word behind --json that looks like fields; -1 where there is none. */
function placeOf(argv: readonly string[]): number {
  const at = ownWords(argv).indexOf('--json') + 1;
  return at > 0 && fieldNames.test(argv[at] ?? '') ? at : -1;
}

function meantFields(argv: readonly string[], at: number): Failure {
  const words = argv.flatMap((word, place) => (place === at ? ['--fields', word] : [word]));
  return new Failure('usage', `--json takes no fields, and "${argv[at]}" stands behind it.`, {
    hint: `Fields have a flag of their own. Run: svc ${typedLine(words)}`,
  });
}
