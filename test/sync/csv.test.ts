import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { type CsvRecord, createCsvParser, detectDelimiter } from '../../src/tabular/csv.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';

type Found = Omit<CsvRecord, 'size'>;

const read = (text: string, delimiter = ',', size = Number.POSITIVE_INFINITY): Found[] => {
  const parser = createCsvParser(delimiter);
  const records: CsvRecord[] = [];
  for (let at = 0; at < text.length; at += size) records.push(...parser.push(text.slice(at, at + size)));
  return [...records, ...parser.end()].map(({ line, cells }) => ({ line, cells }));
};

const table = (text: string): [number, ...string[]][] => read(text).map(({ line, cells }) => [line, ...cells]);

describe('a record begins on the line where an editor shows it', () => {
  test.each<[title: string, text: string, expected: [number, ...string[]][]]>([
    [
      'plain lines',
      'a,b\nc,d\n',
      [
        [1, 'a', 'b'],
        [2, 'c', 'd'],
      ],
    ],
    [
      'no line end at the end',
      'a\nb',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'CRLF',
      'a\r\nb\r\n',
      [
        [1, 'a'],
        [2, 'b'],
      ],
    ],
    [
      'CR alone',
      'a\rb\rc',
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
      ],
    ],
    [
      'mixed line ends',
      'a\r\nb\nc\rd\r\n',
      [
        [1, 'a'],
        [2, 'b'],
        [3, 'c'],
        [4, 'd'],
      ],
    ],
    [
      'LF in quotes',
      '"a\nb",c\nd',
      [
        [1, 'a\nb', 'c'],
        [3, 'd'],
      ],
    ],
    [
      'CRLF in quotes is one line',
      '"a\r\nb"\r\nd',
      [
        [1, 'a\r\nb'],
        [3, 'd'],
      ],
    ],
    [
      'CR in quotes',
      '"a\rb"\rd',
      [
        [1, 'a\rb'],
        [3, 'd'],
      ],
    ],
    [
      'blank lines count as lines, not as records',
      '\n\na\n\r\n\nb\n\n',
      [
        [3, 'a'],
        [6, 'b'],
      ],
    ],
  ])('%s', (_, text, expected) => {
    expect(table(text)).toEqual(expected);
  });
});

describe('quotes', () => {
  test.each<[title: string, text: string, cells: string[]]>([
    ['a comma in quotes', '"a,b",c', ['a,b', 'c']],
    ['a doubled quote', '"say ""hi""",b', ['say "hi"', 'b']],
    ['nothing but a doubled quote', '"""",b', ['"', 'b']],
    ['empty quotes', '"",b', ['', 'b']],
    ['a lone quote inside of a cell', 'a 5" pipe,b"c"', ['a 5" pipe', 'b"c"']],
    ['text after the closing quote', '"a"b"c,d', ['ab"c', 'd']],
    ['a blank before the quote makes it text', ' "a",b', [' "a"', 'b']],
    ['an empty last cell', 'a,', ['a', '']],
    ['only delimiters', ',,', ['', '', '']],
  ])('%s', (_, text, cells) => {
    expect(read(text)).toEqual([{ line: 1, cells }]);
  });

  test('a quote that is never closed is named by its line', () => {
    expect(() => read('a\nb\nc,"d\ne\nf')).toThrow('Line 3: a quote is opened here and never closed.');
    expect(() => read('"a\nb",c,"d\ne')).toThrow('Line 2:');
  });

  test('a record longer than 1 MiB fails before the rest is read', () => {
    const parser = createCsvParser();
    parser.push('a,b\n"c');
    const feed = () => {
      for (let i = 0; i < 40; i++) parser.push('x'.repeat(65_536));
    };
    expect(feed).toThrow('Line 2: the record that begins here is longer than 1 MiB.');
  });

  test('a cell just below 1 MiB is read', () => {
    const long = 'x'.repeat((1 << 20) - 10);
    expect(read(`"${long}"\nb`, ',', 65_536)).toEqual([
      { line: 1, cells: [long] },
      { line: 2, cells: ['b'] },
    ]);
  });
});

const cell = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '😀', ',', ';', '"', '\n', '\r', '\r\n', ' ', '\t'),
  maxLength: 8,
});
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const countLines = (text: string) => text.split(/\r\n|\r|\n/u).length - 1;
/** Quoted where it must be, and sometimes where it need not. */
const written = (text: string, always: boolean) =>
  always || text === '' || /[",;\t\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

test('what was written is read back, with the line of every record, wherever the text is cut', () => {
  const rows = fc.array(
    fc.record({ cells: fc.array(cell, { minLength: 1, maxLength: 5 }), end: lineEnd, quoted: fc.boolean() }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 7 }), fc.boolean(), (rows, size, open) => {
      let text = '';
      const expected: Found[] = [];
      for (const [i, { cells, end, quoted }] of rows.entries()) {
        if (cells.length > 1 || cells[0] !== '') expected.push({ line: countLines(text) + 1, cells });
        text += cells.map((each) => written(each, quoted)).join(',');
        if (!(open && i === rows.length - 1)) text += end;
        // A lone CR before a line that begins with LF would be one line end: not what was meant.
        if (text.endsWith('\r')) text += 'x\n';
        if (text.endsWith('\rx\n')) expected.push({ line: countLines(text), cells: ['x'] });
      }
      expect(read(text, ',', size)).toEqual(expected);
      expect(read(text)).toEqual(expected);
    }),
    { numRuns: draws(300, 1_000) },
  );
});

test('any text gives the same cells as csv-parse gives', () => {
  const text = fc
    .array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom('a', 'bc', ' ', '😀', ',', ',', '\n', '\r\n', '\r', '""') },
        { weight: 1, arbitrary: cell.map((each) => `,${written(each, true)},`) },
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''))
    // Text beside the quotes of a cell is read differently everywhere; ours is Excel's way, tested above.
    .filter(
      (text) => !/[^,\r\n"]"|"[^,\r\n"]/u.test(text.replaceAll(/(?<=^|[,\r\n])"(?:[^"]|"")*"(?=$|[,\r\n])/gu, '')),
    );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 9 }), (text, size) => {
      let expected: string[][];
      try {
        expected = parse(text, {
          record_delimiter: ['\r\n', '\n', '\r'],
          relax_column_count: true,
          skip_empty_lines: true,
        });
      } catch {
        return; // not CSV for csv-parse
      }
      const records = read(text, ',', size);
      const filled = (rows: readonly (readonly string[])[]) => rows.filter((row) => row.some((each) => each !== ''));
      expect(filled(records.map(({ cells }) => cells))).toEqual(filled(expected));
      expect(read(text)).toEqual(records);
    }),
    { numRuns: draws(600, 2_000) },
  );
});

test.each([
  ['email,name', ','],
  ['email;name;"a,b,c,d"', ';'],
  ['email\tname, first\tx', '\t'],
  ['email|name', '|'],
  ['email', ','],
  ['"Name, first";email\nx,y,z', ';'],
])('the delimiter of %j is %j', (sample, expected) => {
  expect(detectDelimiter(sample)).toBe(expected);
});
