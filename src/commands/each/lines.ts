import { jsonIn } from '../../text/json.ts';
import { filled } from '../../text/layout.ts';
import { listed } from '../../text/listed.ts';
import { fieldsIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { cells, pad } from '../../text/width.ts';
import { countedLogins, type Login, sharing } from './chosen.ts';
import { mostKept, type Ran } from './run.ts';

export type Line = Pick<Login, 'profile' | 'account'> & { readonly exit_code: number; readonly output: unknown };

/** With --json what it printed is JSON where it can be; a failure without output has what it said of it. */
export function lineOf({ login: { profile, account }, exitCode, stdout, stderr }: Ran): Line {
  const said = stdout === '' && exitCode !== 0 ? (stderr.split('\n').findLast(isError) ?? stderr) : stdout;
  return { profile, account, exit_code: exitCode, output: jsonIn(said, said) };
}

/** Whether it says itself that it ended before anything was done. */
export const saysNothingDone = ({ stderr }: Ran): boolean => {
  const { error } = fieldsIn(jsonIn(stderr.split('\n').findLast(isError) ?? ''));
  return error !== undefined && fieldsIn(error).done !== true;
};

/** The line of a failure for programs, behind what it says to people. */
const isError = (line: string): boolean => line.startsWith('{"error":');

/** Names are padded so far, however long one of them is. */
const mostCells = 24;

const textOf = (output: unknown): string[] =>
  (typeof output === 'string' ? output : JSON.stringify(output, null, 2)).split(/\r?\n/u).filter((line) => line !== '');

/**
 * `isWrite`: what was done is shown whole, for nobody can do it again to see it. `printed`: its standard output.
 * `names`: the cells of the longest profile.
 */
type OnTerminal = {
  readonly isWrite: boolean;
  readonly printed: string;
  readonly width: number;
  readonly names: number;
};

export function onTerminal(
  { profile, exit_code: code, output }: Line,
  { isWrite, printed, width, names }: OnTerminal,
): string {
  const below = (lines: readonly string[]) =>
    lines.map((line) => `\n    ${sanitize(line.replaceAll('\t', '  '))}`).join('');
  // Where only a part was done, what was printed says which.
  const padded = pad(profile, Math.min(names, mostCells));
  if (code !== 0) return `✗ ${padded}  exit ${code}${isWrite ? below(textOf(printed)) : ''}`;
  const lines = textOf(output);
  const [first = 'done'] = lines;
  if (isWrite && lines.length > 1) return `✓ ${profile}${below(lines)}`;
  const said = lines.length > 1 ? `${lines.length} lines (whole in a pipe, or with --json)` : sanitize(first);
  const line = `✓ ${padded}  ${said}`;
  return cells(line) <= width ? line : `✓ ${profile}\n${filled(said, width, '    ')}`;
}

export const inPipe = ({ profile, exit_code: code, output }: Line): string => {
  const lines = code === 0 ? textOf(output) : [];
  return (lines.length > 0 ? lines : [''])
    .map(
      (line) =>
        `${profile}\t${code}\t${line
          .split('\t')
          .map((cell) => sanitize(cell))
          .join('\t')}`,
    )
    .join('\n');
};

/** What failed, in full, once for all where it is word for word the same; then whose output is not whole. */
export function failuresOf(ended: readonly Ran[]): string[] {
  const failures = new Map<string, string[]>();
  for (const { login, exitCode, stderr, stdout } of ended.filter((ran) => ran.exitCode !== 0)) {
    const lines = (stderr || stdout).trimEnd().split('\n');
    const told = lines.filter((line) => !isError(line)).map((line) => `  ${line}`);
    const text = [`: exit ${exitCode}`, ...told].join('\n');
    failures.set(text, [...(failures.get(text) ?? []), login.profile]);
  }
  return [
    ...[...failures].flatMap(([text, profiles]) => (profiles.join(', ') + text).split('\n')),
    ...ended
      .filter(({ isCut }) => isCut)
      .map(({ login }) => `${login.profile}: only the first ${mostKept / 1024 ** 2} MB of what it printed are here.`),
  ];
}

export function sumOf(meant: readonly Login[], ended: readonly Ran[]): string {
  if (meant.length === 0) return 'Nothing surely failed the last time.';
  const codes = new Map<number, number>();
  for (const { exitCode } of ended) codes.set(exitCode, (codes.get(exitCode) ?? 0) + 1);
  const told = [...codes]
    .sort(([a], [b]) => a - b)
    .map(([code, count]) => (code === 0 ? `${count} done` : `${count} with exit ${code}`));
  const waiting = meant.length - ended.length;
  const all = [...told, ...(waiting > 0 ? [`${waiting} not begun`] : [])];
  const shared = sharing(meant).map((same) => ` ${listed(same)} log in to one account.`);
  return `${countedLogins(meant)}: ${all.join(', ')}.${shared.join('')}`;
}

export function whereItEnded(meant: readonly Login[], ended: readonly Ran[]): string {
  const names = (some: readonly string[]) => (some.length > 0 ? some.join(', ') : 'none');
  const done = ended.filter(({ exitCode }) => exitCode === 0).map(({ login }) => login.profile);
  const other = ended
    .filter(({ exitCode }) => exitCode !== 0)
    .map(({ login, exitCode }) => `${login.profile} (exit ${exitCode})`);
  const seen = new Set(ended.map(({ login }) => login.profile));
  const waiting = meant.filter(({ profile }) => !seen.has(profile)).map(({ profile }) => profile);
  return `Interrupted. Done: ${names(done)}. Ended: ${names(other)}. Not begun: ${names(waiting)}.`;
}

export const hintFor = (ended: readonly Ran[]): string =>
  ended.some(({ exitCode }) => exitCode !== 0)
    ? 'Look at those that ended before you repeat anything. For the rest: the same command with --failed'
    : 'For the rest: the same command with --failed';
