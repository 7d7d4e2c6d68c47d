import { describe, expect, test } from 'vitest';
import { isDropped, loadPhones } from '../../src/batch/phone.ts';
import { newFindings } from '../../src/sync/findings.ts';
import { listShape, mapHeaders, type Shape, syncShape } from '../../src/sync/mapping.ts';
import { createRowReader, type RowOptions } from '../../src/sync/rows.ts';

const phones = await loadPhones();
const defaults: RowOptions = { tagSeparator: undefined, tags: [], metadata: {}, strictPhone: false };

const reader = (header: string, options: Partial<RowOptions> = {}, shape: Shape = syncShape) => {
  const mapping = mapHeaders(header.split('|'), [], shape);
  const read = createRowReader(
    mapping,
    shape,
    { ...defaults, ...options },
    {
      phones,
      leavesOut: undefined,
      findings: newFindings(),
    },
  );
  return (row: string) => read({ line: 7, cells: row.split('|'), size: row.length });
};

describe('a row becomes a contact', () => {
  test('cells are trimmed, and blank ones are not sent', () => {
    expect(reader('email|name|company|metadata.plan')(' a@example.com |\u00a0Ada\u00a0|  |')).toMatchObject({
      line: 7,
      contact: { email: 'a@example.com', name: 'Ada' },
    });
  });

  test('tags are split, trimmed, unquoted and named once', () => {
    const read = reader('email|tags', { tags: ['import', 'vip'] });
    expect(read('a@example.com|vip; beta ;;vip')).toMatchObject({ contact: { tags: ['vip', 'beta', 'import'] } });
    expect(reader('email|tags', { tagSeparator: ',' })('a@example.com|VIP, big')).toMatchObject({
      contact: { tags: ['VIP', 'big'] },
    });
  });

  test('--metadata fills what the row does not say itself', () => {
    const read = reader('email|metadata.plan', { metadata: { plan: 'free', source: 'fair' } });
    expect(read('a@example.com|pro')).toMatchObject({ contact: { metadata: { plan: 'pro', source: 'fair' } } });
    expect(read('a@example.com|')).toMatchObject({ contact: { metadata: { plan: 'free', source: 'fair' } } });
  });

  test('a column of JSON objects, as an export writes it, is read back', () => {
    const read = reader('email|metadata|metadata.plan');
    expect(read('a@example.com|{"seats":3,"plan":"free"}|pro')).toMatchObject({
      contact: { metadata: { seats: 3, plan: 'pro' } },
    });
    expect(read('a@example.com|[1]|')).toMatchObject({ error: 'metadata is not a JSON object' });
    expect(read('a@example.com|plan=pro|')).toMatchObject({ error: 'metadata is not a JSON object' });
    expect(read('a@example.com|{"a":1,"a":2}|')).toMatchObject({ error: 'metadata has the key "a" twice' });
    expect(read('a@example.com|{"a":"\\u0000"}|')).toMatchObject({
      error: 'metadata holds a NUL character (\\u0000)',
    });
  });

  test('missing cells are blank, and empty ones too many do no harm', () => {
    const read = reader('email|name|company');
    expect(read('a@example.com')).toMatchObject({ contact: { email: 'a@example.com' } });
    expect(read('a@example.com|Ada|||')).toMatchObject({ contact: { name: 'Ada' } });
  });

  test('a row of blank cells is no row', () => {
    expect(reader('email|name')(' |')).toBeUndefined();
  });
});

describe('what is wrong with a row', () => {
  const long = '😀'.repeat(51);
  test.each([
    ['|Ada', 'email is missing'],
    ['ada|Ada', '"ada" is not an email address'],
    ['Ada <ada@example.com>|Ada', '"Ada <ada@example.com>" is not an email address'],
    ...['\u200b', '\u200e', '\u202a', '\u2060'].map((hidden) => [
      `${hidden}ada@example.com|Ada`,
      `"${hidden}ada@example.com" is not an email address: it holds U+${hidden.charCodeAt(0).toString(16).toUpperCase()}, which nobody sees`,
    ]),
    [
      'ada@exam\u00adple.com|Ada',
      '"ada@exam\u00adple.com" is not an email address: it holds U+00AD, which nobody sees',
    ],
    ['\x1aada@example.com|Ada', '"\x1aada@example.com" is not an email address: it holds a control character'],
    ['a@example.com|Ada|x|y', 'has 4 cells where the header has 3'],
    [`a@example.com||${'abcdefghijk'.split('').join(';')}`, 'has 11 tags, at most 10 are allowed'],
    [`a@example.com||${long}`, `the tag "${long}" has 51 characters, at most 50 are allowed`],
    [`bad||${'abcdefghijk'.split('').join(';')}`, '"bad" is not an email address; has 11 tags, at most 10 are allowed'],
  ])('%j', (row, error) => {
    expect(reader('email|name|tags')(row)).toEqual({ line: 7, email: row.split('|')[0], error });
  });

  test('50 emoji are a tag, since the service counts characters', () => {
    expect(reader('email|tags')(`a@example.com|${'😀'.repeat(50)}`)).toHaveProperty('contact');
  });

  test('a list import wants a name', () => {
    expect(reader('email|name', {}, listShape)('a@example.com|')).toMatchObject({ error: 'name is missing' });
  });

  test('a phone that the service would ignore is a warning, or an error with --strict-phone', () => {
    expect(reader('email|phone')('a@example.com|call me')).toMatchObject({ phone: 'ignored' });
    expect(reader('email|phone', { strictPhone: true })('a@example.com|call me')).toMatchObject({
      error: 'the service would ignore the phone "call me"',
    });
  });
});

test('a blank cell is filled by the next column that holds the same', () => {
  const read = reader('Email|Work Phone|Mobile|E-mail 2 Address');
  expect(read('|+442079460958||b@example.com')).toMatchObject({
    contact: { email: 'b@example.com', phone: '+442079460958' },
  });
  expect(read('a@example.com|+442079460958|+447700900123|b@example.com')).toMatchObject({
    contact: { email: 'a@example.com', phone: '+447700900123' },
  });
});

test('a full name stands in for a first name only where there is no last name', () => {
  const read = reader('Email|Name|First Name|Last Name');
  expect(read('a@example.com|Acme Ltd||')).toMatchObject({ contact: { name: 'Acme Ltd' } });
  expect(read('a@example.com|Okafor||Okafor')).toMatchObject({ contact: { last_name: 'Okafor' } });
  expect(read('a@example.com|Okafor||Okafor')).not.toHaveProperty('contact.name');
});

test('of addresses that Google joined, the first is taken', () => {
  expect(reader('email')('a@example.com ::: b@example.com')).toMatchObject({ contact: { email: 'a@example.com' } });
});

describe('phones that the service takes', () => {
  test.each([
    '+14155550100',
    '+44 20 7946 0958',
    '+44 (0)20 7946 0958',
    '0044 20 7946 0958',
    '(+44) 20 7946 0958',
    '+49 30 901820',
    '+358 9 1234567',
    '+1 415 555 0100 ext. 5',
    '+39 06 1234 5678',
  ])('%s', (phone) => {
    expect(phones.judge(phone)).toBe('fine');
  });
});

describe('phones without a country, which it takes for North American', () => {
  test.each(['(415) 555-0100', '1-415-555-0100', '415.555.0100', '415-555-0100 x123'])('%s', (phone) => {
    expect(phones.judge(phone)).toBe('guessed');
    expect(isDropped('guessed')).toBe(false);
  });
});

describe('phones that it drops', () => {
  test.each([
    ['n/a', 'ignored'],
    ['-', 'ignored'],
    ['12', 'ignored'],
    ['+999 123456789', 'ignored'],
    ['+1 415 555', 'ignored'],
    ['+1 555-4001', 'ignored'],
    ['call me', 'ignored'],
    [`+1${'5'.repeat(300)}`, 'ignored'],
    ['555-0100', 'national'],
    ['0171 2345678', 'national'],
    ['06 12 34 56 78', 'guessed'],
    ['+33 012345678', 'doubtful'],
  ])('%s is %s', (phone, verdict) => {
    expect(phones.judge(phone)).toBe(verdict);
  });
});
