import { posix } from 'node:path';

/**
 * What a job on GitHub is told in the forms that it reads: workflow commands in the log, `name=value` files and a
 * summary page. Everything here may hold text of customers, so every form is escaped by its own rules.
 */

/** A place in a file of the repository; `line` from 1. */
export type SourcePosition = { readonly file: string; readonly line?: number };

/** A workflow command that marks a line of a file. Data and properties have different escapes. */
export function annotation(kind: 'error' | 'warning', title: string, message: string, place?: SourcePosition): string {
  const properties = { file: place?.file, line: place?.line?.toString(), title };
  const given = Object.entries(properties).map(([key, value]) => value && `${key}=${escapeProperty(value)}`);
  const list = given.filter(Boolean).join(',');
  return `::${kind} ${list}::${escapeData(message)}`;
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('##[', '# #[');

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/**
 * Text that a runner prints without obeying it. A line that begins with `::`, also after spaces, is a command, and so
 * is the older `##[` anywhere in a line.
 */
export const inertInLog = (text: string): string =>
  text.replaceAll(/^((?:[^\S\r\n\u2028\u2029]|\u0085)*):(?=:)/gmu, '$1: ').replaceAll('##[', '# #[');

/** Lines for the file of `GITHUB_OUTPUT`. The delimiter is random, so that no value can end itself and begin another. */
export function outputLines(outputs: Readonly<Record<string, string>>, random: (bytes: number) => Uint8Array): string {
  return Object.entries(outputs)
    .map(([name, value]) => {
      const delimiter = `end_${Buffer.from(random(16)).toString('hex')}`;
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
    })
    .join('');
}

export type Summary = {
  readonly headline: string;
  readonly rows: readonly (readonly [name: string, value: string])[];
  /** Lines of a diff, shown as code. */
  readonly diff?: string;
};

/** Markdown for the file of `GITHUB_STEP_SUMMARY`. */
export function summaryPage({ headline, rows, diff }: Summary): string {
  const table = rows.map(([name, value]) => `| ${inMarkdown(name)} | ${inMarkdown(value)} |`);
  const lines = [`### ${inMarkdown(headline)}`, '', ...(rows.length > 0 ? ['| | |', '|---|---|', ...table] : [])];
  return `${[...lines, ...(diff ? ['', ...fenced(diff)] : [])].join('\n')}\n\n`;
}

/** In one line, with every character that Markdown or HTML reads as a mark made plain. */
const inMarkdown = (text: string): string =>
  text
    .replaceAll(/\s+/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]()#+!|~@:.-]/gu, (mark) => (/[.:-]/u.test(mark) ? mark : `\\${mark}`));

/** A code fence longer than any run of backticks in the text. */
function fenced(text: string): string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/gu)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}diff`, text, fence];
}

/** The path by which the repository knows a file that was named relative to the working folder. */
export function fileInRepository(file: string, workingFolder: string, workspace: string | undefined): string {
  const whole = posix.resolve('/', workingFolder, file);
  return workspace && whole.startsWith(`${workspace}/`)
    ? whole.slice(workspace.length + 1)
    : file.replace(/^\.\//u, '');
}
