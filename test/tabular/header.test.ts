import { stringify } from 'csv-stringify/sync';
import { describe, expect, test } from 'vitest';
import { createCsvParser } from '../../src/tabular/csv.ts';
import { findBeginning, type HeaderOptions } from '../../src/tabular/header.ts';
import { fc } from '../chance.ts';
import { draws } from '../thorough.ts';

const options: HeaderOptions = {
  delimiter: undefined,
  skipLines: undefined,
  noHeader: false,
  judge(cells) {
    if (cells.some((cell) => /^\S+@\S+$/u.test(cell))) return 'row';
    return cells.some((cell) => cell.trim().toLowerCase() === 'email') ? 'header' : 'unclear';
  },
};

const begin = (text: string, given: Partial<HeaderOptions> = {}) => {
  const found = findBeginning(text, { ...options, ...given, isWhole: true });
  return found && { line: found.start.line, cells: found.cells, delimiter: found.delimiter, isRow: found.isRow };
};

const linkedIn =
  'Notes:\n"When exporting, you may see\nthat some are missing."\n\nFirst Name,Email\nAda,ada@example.com\n';

describe('where a table begins', () => {
  test.each<[title: string, text: string, line: number, cells: string[]]>([
    ['the first line', 'Name,Email\nAda,ada@example.com', 1, ['Name', 'Email']],
    ['below blank lines and blank cells', '\n,,\nName,Email\n', 3, ['Name', 'Email']],
    ['below remarks, quoted over several lines', linkedIn, 5, ['First Name', 'Email']],
    ['below comments', '# made,by,hand,on\n# Monday\nName,Email\n', 3, ['Name', 'Email']],
    ['below a title that a spreadsheet filled up', 'Report,,\nMay,,\nName,Email,Plan\n', 3, ['Name', 'Email', 'Plan']],
    ['below a title, with one column', 'People\nemail\nada@example.com', 2, ['email']],
    [
      'below a title with another delimiter',
      'People, all, of, May\n\nName;Email\nAda;ada@example.com',
      3,
      ['Name', 'Email'],
    ],
    ['below sep=', 'sep=;\nName, first;Email\n', 2, ['Name, first', 'Email']],
    ['below sep= in quotes, with delimiters behind', '"sep=|"|\nName|Email\n', 2, ['Name', 'Email']],
    [
      'on line 1 where no line is a header',
      'Full name,Mail of it\nAda,ada@example.com',
      1,
      ['Full name', 'Mail of it'],
    ],
    [
      'on the widest line where no line is a header',
      'Report\n\nFull name,Mail of it\nAda,ada@example.com',
      3,
      ['Full name', 'Mail of it'],
    ],
  ])('%s', (_, text, line, cells) => {
    expect(begin(text)).toMatchObject({ line, cells, isRow: false });
  });

  test('a first line that is a row is one, also below a title', () => {
    expect(begin('Ann,ann@example.com\nBob,bob@example.com')).toMatchObject({ line: 1, isRow: true });
    expect(begin('Report\nAnn,ann@example.com')).toMatchObject({ line: 2, isRow: true });
  });

  test('rows are never taken for a preamble', () => {
    expect(begin('Ann,ann@example.com\nName,Email\n')).toMatchObject({ line: 1, isRow: true });
    // "email" is what Jean prefers.
    expect(begin('Nom,Adresse,Moyen\nJean,x,email\n')).toMatchObject({ line: 1, cells: ['Nom', 'Adresse', 'Moyen'] });
  });

  test('lines that are counted are neither read nor judged, whatever is in them', () => {
    expect(begin('"never closed\nAnn,ann@example.com\nWho;Where\n', { skipLines: 2 })).toMatchObject({
      line: 3,
      cells: ['Who', 'Where'],
    });
    expect(begin(linkedIn, { skipLines: 0 })).toMatchObject({ line: 1, cells: ['Notes:'] });
    expect(begin('sep=;\nx\nName, a;Email', { skipLines: 2 })).toMatchObject({ line: 3, delimiter: ';' });
    expect(() => begin('a\nb\n', { skipLines: 2 })).toThrow('There is nothing below line 2.');
  });

  test('more of the file is asked for until it can be told', () => {
    const text = `${'# a remark\n'.repeat(20)}Name,Email\nAda,ada@example.com\n`;
    for (let end = 0; end < text.indexOf('Email\n') + 6; end++) {
      expect(findBeginning(text.slice(0, end), { ...options, isWhole: false })).toBeUndefined();
    }
    expect(findBeginning(text, { ...options, isWhole: false })?.start.line).toBe(21);
  });

  test('blank lines cost next to nothing, and are counted', { tags: ['long'] }, () => {
    const blank = '\r\n'.repeat(1_000_000);
    expect(begin(`${blank}Name,Email\n`)).toMatchObject({ line: 1_000_001 });
    expect(begin(blank)).toBeUndefined();
    expect(() => findBeginning('\n'.repeat((1 << 22) + 1), { ...options, isWhole: false })).toThrow('The first 4 MiB');
    // Half of a line end.
    expect(findBeginning('\r', { ...options, isWhole: false })).toBeUndefined();
    expect(begin('\r\nEmail\r')).toMatchObject({ line: 2 });
    expect(begin('\rEmail')).toMatchObject({ line: 2 });
  });

  test('a file without a header is not searched to its end', () => {
    expect(begin(`${'a,b\n'.repeat(500)}Name,Email,Plan\n`)).toMatchObject({ line: 1 });
  });
});

const cell = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', '😀', ',', ';', '"', '\n', '\r\n', ' ', '\t', '|', '='),
  maxLength: 8,
});
const remark = fc
  .string({ unit: fc.constantFrom('a', 'b', ' ', '5', '"', ':', '#', '.'), maxLength: 12 })
  .map((text) => `x${text}`);

test('what csv-stringify writes comes out as it went in, whatever stands above it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(remark, fc.constant('')), { maxLength: 6 }),
      fc.integer({ min: 2, max: 5 }),
      fc.array(fc.array(cell, { minLength: 5, maxLength: 5 }), { maxLength: 6 }),
      fc.record({
        delimiter: fc.constantFrom(',', ';', '\t', '|'),
        record_delimiter: fc.constantFrom('\n', '\r\n'),
        quoted: fc.boolean(),
      }),
      (above, width, cells, how) => {
        const header = ['Email', 'b', 'c', 'd', 'e'].slice(0, width);
        const rows = cells.map((row) => row.slice(0, width));
        const preamble = above.map((line) => line + how.record_delimiter).join('');
        const text = preamble + stringify([header, ...rows], { ...how, quoted_match: /[\r\n]/u });
        const found = findBeginning(text, { ...options, isWhole: true });
        expect(found).toMatchObject({ delimiter: how.delimiter, cells: header, start: { line: above.length + 1 } });
        if (!found) return;
        const parser = createCsvParser(found.delimiter, found.next.line);
        const read = [...parser.push(text.slice(found.next.at)), ...parser.end()];
        const filled = (all: readonly (readonly string[])[]) => all.filter((row) => row.length > 1 || row[0] !== '');
        expect(read.map((record) => record.cells)).toEqual(filled(rows));
        const line = (at: number) => text.slice(0, at).split(/\r\n|\r|\n/u).length;
        expect(read[0]?.line ?? line(found.next.at)).toBe(line(found.next.at));
      },
    ),
    { numRuns: draws(300, 1_000) },
  );
});
