import { expect, test, vi } from 'vitest';
import { kindOfPlace, placeHint, withStrictTls } from '../../src/database/place.ts';
import { readUrl } from '../../src/database/postgres.ts';

test.each([
  'postgres://localhost/copy',
  'postgresql://ada:geheim@db:5432/copy?sslmode=require',
  'POSTGRES://db/copy',
  'postgres:///copy?host=/var/run/postgresql',
  'postgres://ada:with a blank@db/copy',
])('%j is a URL', (text) => expect(kindOfPlace(text)).toBe('url'));

test.each([
  'copy.db',
  './copy.db',
  '/srv/my data/copy.db',
  'C:\\data\\copy.db',
  'C:/data/ada@work/copy.db',
  'C:\\data\\ada@work.db',
  '../postgres/copy.db',
  'postgres.db',
  'postgres',
  'host.db',
  'backup 2026-11-20 12:00.db',
  'ada@example.test.db',
  'a=b.db',
  'folder/host=x.db',
])('%j is a file', (text) => expect(kindOfPlace(text)).toBe('file'));

const wrapped = ['"', "'", '`', ' ', '\t', '\n', '\u{feff}', '\u00a0', '“'];
test.each(wrapped)('a URL in %j is neither, and the hint says why', (mark) => {
  for (const text of [`${mark}postgres://ada:p@h/d${mark}`, `${mark}postgres://ada:p@h/d`]) {
    expect([text, kindOfPlace(text)]).toEqual([text, 'neither']);
    expect(placeHint(text)).toContain('quotation marks or blanks');
  }
});

test.each([
  'mysql://root:p@db/x',
  'sqlite:/x.db',
  'postgres:/ada:p@h/d',
  'postgres:ada:p@h/d',
  'postgress://ada:p@h/d',
  'postgres;//ada:p@h/d',
  'postgresql//ada:p@h/d',
  '//ada:p@h/d',
  'ada:p@h/d',
  'ada:p/q@h/d',
  'host=h password=p',
  "'host=h password=p'",
  ' dbname = d  user=ada',
  'Server=h;Database=d;User Id=ada;Password=p',
  'application_name=x password=p',
  'SVC_MIRROR_DB=postgres://ada:p@h/d',
])('%j is neither, and the hint repeats nothing of it', (text) => {
  expect(kindOfPlace(text)).toBe('neither');
  expect(placeHint(text)).toBe('A URL looks like postgres://user@host:5432/database');
});

test.each(['require', 'prefer', 'verify-ca', 'verify-full'])(
  'sslmode=%s verifies the server, without a word of the library on standard error',
  async (mode) => {
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const { ssl, database } = await readUrl(`postgres://ada@db/copy?sslmode=${mode}&application_name=x`, {});
      expect([ssl, database, warn.mock.calls]).toEqual([{}, 'copy', []]);
    } finally {
      warn.mockRestore();
    }
  },
);

test.each([
  'postgres://ada@db/copy?sslmode=disable',
  'postgres://ada@db/copy?sslmode=no-verify',
  'postgres://ada@db/copy?uselibpqcompat=true&sslmode=require',
  'postgres://sslmode=require@db/copy',
])('%s is left as it is', (url) => {
  expect(withStrictTls(url)).toBe(url);
});
