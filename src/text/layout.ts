/**
 * Help as columns of plain letters: measured by its length, since `svc --help` is to load nothing. Where no terminal
 * tells its width, a line has 80 cells.
 */
export const usualWidth = 80;

/** Lines of a wider terminal would be too long to read. */
export const helpWidth = (columns: number | undefined): number => Math.max(20, Math.min(columns ?? usualWidth, 120));

/** One paragraph, broken between words. What is longer than a line, such as an address, stays whole. */
export function filled(text: string, width: number, indent = ''): string {
  const lines: string[] = [];
  for (const word of text.split(/\s+/u).filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(indent + word);
  }
  return lines.join('\n');
}

/**
 * Paragraphs stand apart by an empty line; where else their source breaks lines does not matter, but that lines which
 * begin with a blank are a table.
 */
export const paragraphs = (text: string, width: number): string =>
  text
    .split(/\n{2,}/u)
    .map((one) => (isTable(one) ? table(one.split('\n'), width) : filled(one, width)))
    .join('\n\n');

export const isTable = (paragraph: string): boolean => /^ /u.test(paragraph);

/** Its second column is to be copied: where a line has too little room, each stands whole below its term. */
const table = (lines: readonly string[], width: number): string =>
  lines.every((line) => line.length <= width)
    ? lines.join('\n')
    : lines.map((line) => line.replace(/(?<=\S) {2,}/u, '\n    ')).join('\n');

/** Texts beside their terms; where there is too little room beside a term, below it. */
export function definitions(rows: readonly (readonly [term: string, about: string])[], width: number): string {
  const beside = roomBeside(Math.max(...rows.map(([term]) => term.length)), width);
  return rows.map((row) => definition(row, beside, width)).join('\n');
}

/** Where the texts begin: behind the longest term, but never beyond the middle. */
export const roomBeside = (longest: number, width: number): number => Math.min(longest + 4, width >> 1);

export function definition([term, about]: readonly [string, string], beside: number, width: number): string {
  if (about === '') return `  ${term}`;
  const text = filled(about, width, ' '.repeat(beside));
  return term.length + 4 > beside ? `  ${term}\n${text}` : `  ${term}`.padEnd(beside) + text.trimStart();
}

/** A command line that can be copied: where it is too long it goes on behind a backslash, between two words. */
export function commandLine(line: string, width: number): string {
  const words = line.match(/(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'])+/gu) ?? [];
  // Quotes that do not close: nothing may be lost.
  if (words.join(' ') !== line) return `  $ ${line}`;
  const lines: string[] = [];
  for (const word of withValues(words, width - 8)) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(`  $ ${word}`);
    // Room for the backslash that may have to follow.
    else if (last.length + 1 + word.length <= width - 2) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`      ${word}`);
  }
  return lines.join(' \\\n');
}

/** A flag and its value stay together where they can. */
function withValues(words: readonly string[], width: number): string[] {
  const units: string[] = [];
  for (const word of words) {
    const last = units.at(-1);
    const isValue = last !== undefined && /^--?[\w-]+$/u.test(last) && !word.startsWith('-');
    if (isValue && last.length + 1 + word.length <= width) units[units.length - 1] = `${last} ${word}`;
    else units.push(word);
  }
  return units;
}

/**
 * What is told as a command, behind a colon, up to its end: a pasted line break would cut it in two. A quote that does not
 * close is a letter, so that each beginning has its end, and none is read twice.
 */
export const toldCommand = /(?<=: )(?:svc|echo) (?:'[^']*'|"[^"]*"|.)+?(?=$|,? \(|[.,;] )/gsu;

/** A flag with its value in quotes: a line break inside of them would become part of the value. */
const quotedValue = /(?<![\w-])--?[\w-]+[ =](?:'[^'\n]*'|"[^"\n]*")/gu;

/**
 * A message as a terminal of that width shows it: broken between words. A command in it that can be typed as it stands
 * is never broken. Lines that begin with a blank are laid out already.
 */
export function message(text: string, width: number, indent = ''): string {
  const room = Math.max(20, width);
  return text
    .split('\n')
    .map((line) => (line.length + indent.length <= room || line.startsWith(' ') ? line : broken(line, room, indent)))
    .join('\n');
}

function broken(line: string, width: number, indent: string): string {
  // No text holds it: control characters are made visible before.
  const blank = '\u0001';
  const unbroken = (command: string) => command.replaceAll(' ', blank);
  const whole = line.replaceAll(toldCommand, unbroken).replaceAll(quotedValue, unbroken);
  const filledUp = filled(whole, width, indent);
  return filledUp.replaceAll(blank, ' ').slice(indent.length);
}
