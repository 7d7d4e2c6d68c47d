import { param } from '../command/param.ts';
import { Failure } from '../errors.ts';

export const mapFlag = {
  map: param.texts('Which column fills which field; #N names a column by position', { placeholder: 'COLUMN=FIELD' }),
};

/** How the text of a person's file is read. */
export const readingFlags = {
  delimiter: {
    ...param.text('Delimiter: comma, semicolon, tab, pipe or a character (default: detected)', {
      placeholder: 'CHARACTER',
      takesBlanks: true,
    }),
    parse: (texts: readonly string[], flag: string) => delimiterOf(texts.at(-1) ?? '', flag),
  },
  encoding: param.text('Encoding of the file, for example windows-1252 (default: UTF-8 or UTF-16, detected)', {
    placeholder: 'NAME',
  }),
  skip_lines: param.integer('Lines above the header (default: found)'),
  no_header: param.toggle('The file has no header; columns are #1, #2 and so on'),
} as const;

const named: Readonly<Record<string, string>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  '\\t': '\t',
  pipe: '|',
  space: ' ',
};

function delimiterOf(text: string, flag: string): string {
  const word = text.toLowerCase();
  const delimiter = (Object.hasOwn(named, word) ? named[word] : undefined) ?? text;
  if (delimiter.length === 1 && !/["\r\n]/u.test(delimiter)) return delimiter;
  throw new Failure('usage', `${flag} must be one character, or comma, semicolon, tab, pipe or space, not "${text}".`);
}
