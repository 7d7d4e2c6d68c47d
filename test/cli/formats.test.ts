import { parse as parseCsv } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { outputs } from '../../src/config/outputs.ts';
import type { Settings } from '../../src/config/settings.ts';
import { Failure } from '../../src/errors.ts';
import { csvLine } from '../../src/output/csv-out.ts';
import { checkOutput, print } from '../../src/output/print.ts';
import type { View } from '../../src/output/view.ts';
import { toYaml } from '../../src/output/yaml.ts';
import { fc } from '../chance.ts';
import { screen, settings } from './fake-context.ts';

const contacts = [
  {
    contact_id: 1,
    name: 'Ada "A", B',
    tags: ['vip', 'de'],
    phone: '+15550100100',
    person: { name: 'X' },
    metadata: { plan: 'pro' },
  },
  { contact_id: 2, name: '=cmd|x\nsecond\x1b[2J', tags: [], phone: '-', person: null, metadata: {} },
];
const list = (records: Iterable<unknown> | AsyncIterable<unknown> = contacts): View => ({
  data: {
    shape: 'list',
    records,
    columns: ['contact_id', 'name'],
    fields: ['contact_id', 'name', 'tags', 'person.name', 'metadata'],
  },
  read: true,
});

async function printed(view: View, wish: Partial<Settings>, columns?: number) {
  const { ctx, written } = screen({ columns });
  await print(ctx, view, { ...settings, ...wish });
  return written.stdout;
}

/** What a list of one record and the record itself are in each format. */
const forms: Readonly<Record<(typeof outputs)[number], readonly [list: string, record: string]>> = {
  table: ['ID  Name\n1   Ada\n', 'id    1\nname  Ada\n'],
  json: ['[\n  {\n    "id": 1,\n    "name": "Ada"\n  }\n]\n', '{\n  "id": 1,\n  "name": "Ada"\n}\n'],
  jsonl: ['{"id":1,"name":"Ada"}\n', '{"id":1,"name":"Ada"}\n'],
  csv: ['id,name\r\n1,Ada\r\n', 'id,name\r\n1,Ada\r\n'],
  yaml: ['- id: 1\n  name: Ada\n', 'id: 1\nname: Ada\n'],
};

test.each(Object.entries(forms))('%s', async (output, [ofList, ofRecord]) => {
  const wish = { output: outputs.find((one) => one === output) };
  const record = { id: 1, name: 'Ada' };
  expect([
    await printed({ data: { shape: 'list', records: [record], columns: ['id', 'name'] } }, wish),
    await printed({ data: { shape: 'record', record } }, wish),
  ]).toEqual([ofList, ofRecord]);
});

describe('csv', () => {
  test('is RFC 4180: CRLF, quotes doubled, line ends inside quotes, every documented field a column', async () => {
    expect(await printed(list(), { output: 'csv' })).toBe(
      'contact_id,name,tags,person.name,metadata\r\n' +
        '1,"Ada ""A"", B",vip;de,X,"{""plan"":""pro""}"\r\n' +
        '2,"=cmd|x\nsecond\x1b[2J",,,{}\r\n',
    );
  });

  test('has the columns that were asked for, by dotted names', async () => {
    expect(await printed(list(), { output: 'csv', fields: ['metadata.plan', 'contact_id'] })).toBe(
      'metadata.plan,contact_id\r\npro,1\r\n,2\r\n',
    );
  });

  test('of nothing still has its header', async () => {
    expect(await printed(list([]), { output: 'csv' })).toBe('contact_id,name,tags,person.name,metadata\r\n');
  });

  test('on a terminal does not act', async () => {
    expect(await printed(list(), { output: 'csv' }, 80)).toContain('^[[2J');
  });

  test('of one record is a header and a row', async () => {
    const view: View = { data: { shape: 'record', record: contacts[0] } };
    expect(await printed(view, { output: 'csv' })).toBe(
      'contact_id,name,tags,phone,person.name,metadata\r\n1,"Ada ""A"", B",vip;de,+15550100100,X,"{""plan"":""pro""}"\r\n',
    );
  });

  test.each([
    ['=1+1', "'=1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['+1+cmd|x', "'+1+cmd|x"],
    ['-2+3+cmd', "'-2+3+cmd"],
    ['＝1+1', "'＝1+1"],
    ['\t=1', "'\t'=1"],
    [' =1+1', "' =1+1"],
    ['\u00a0=1', "'\u00a0=1"],
    ['\u3000@A1', "'\u3000@A1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['\u200b\u2060 +cmd', "'\u200b\u2060 +cmd"],
    ['\u0000-cmd', "'\u0000-cmd"],
    ['\u2212cmd', "'\u2212cmd"],
    ['\ufe66cmd', "'\ufe66cmd"],
    [' +1 555 0100', ' +1 555 0100'],
    ['\u221219.90', '\u221219.90'],
    [' a=b', ' a=b'],
    [' - ', ' - '],
    ['+15550100100', '+15550100100'],
    ['+1 (555) 010-0100', '+1 (555) 010-0100'],
    ['-19.90', '-19.90'],
    ['a=b', 'a=b'],
    ["x;=cmd|'/C calc'!A0;", "x;'=cmd|'/C calc'!A0;"],
    ['x\t @A1', "x\t' @A1"],
    ['x\n=1+1', "x\n'=1+1"],
    ['vip;-3;+31 6', 'vip;-3;+31 6'],
  ])('--safe-cells writes %j as %j', (text, cell) => {
    expect(parseCsv(csvLine([text, 'x'], true))).toEqual([[cell, 'x']]);
  });

  test('--safe-cells quotes what a program that splits at another sign would take apart', () => {
    expect(csvLine(['a;b', 'a\tb', 'a b'], true)).toBe('"a;b","a\tb",a b\r\n');
    expect(csvLine(['a;b', 'a\tb', 'a b'], false)).toBe('a;b,a\tb,a b\r\n');
    // A spreadsheet that expects `;`, as in much of Europe, begins a cell behind each one.
    for (const part of csvLine([1, "x;=cmd|'/C calc'!A0;", '\t+cmd'], true).split(/[;\t\r\n]/u))
      expect(part).not.toMatch(/^["\s]*[=+@-]/u);
  });

  test('whatever the cells hold, a reader gets them back', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', ';', 'é', '=') });
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1, maxLength: 4 }), (row) => {
        expect(parseCsv(csvLine(row, false), { record_delimiter: '\r\n' })).toEqual([row]);
      }),
    );
  });
});

describe('jsonl', () => {
  test('is a record a line, and keeps what came before a failure', async () => {
    const { ctx, written } = screen();
    const records = (async function* () {
      yield contacts[0];
      throw new Failure('network', 'gone');
    })();
    await expect(print(ctx, list(records), { ...settings, output: 'jsonl' })).rejects.toThrow('gone');
    expect(written.stdout).toBe(`${JSON.stringify(contacts[0])}\n`);
  });
});

describe('yaml', () => {
  test('is one document', async () => {
    expect(parseYaml(await printed(list(), { output: 'yaml' }))).toEqual(contacts);
  });

  test.each([
    'no',
    'Yes',
    '2026-01-01',
    '12:30:45',
    '0o14',
    '0123',
    '1e3',
    '~',
    '',
    '+15550100',
    '<<',
    'a: b',
    '- x',
    '\u0085\u202E\x1b',
  ])('keeps the text %j a text for old readers and new, and harmless', (text) => {
    const yaml = toYaml({ text });
    expect(parseYaml(yaml)).toEqual({ text });
    expect(parseYaml(yaml, { version: '1.1' })).toEqual({ text });
    expect(yaml.trimEnd()).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  });
});

describe('--jq', () => {
  test.each([
    ['.[].name', 'Ada "A", B\n=cmd|x\nsecond\x1b[2J\n'],
    ['.[0].person', '{"name":"X"}\n'],
    ['.[1].person', '\n'],
    ['length', '2\n'],
    ['map(.contact_id)', '[1,2]\n'],
    ['.[] | select(.tags | index("vip")) | .contact_id', '1\n'],
    ['-1', '-1\n'],
    ['empty', ''],
    ['[.[] | .tags | @csv] | first', '"vip","de"\n'],
  ])('%s', async (jq, out) => {
    expect(await printed(list(), { output: 'json', jq })).toBe(out);
  });

  test('on a terminal prints strings harmless and objects readable', async () => {
    expect(await printed(list(), { output: 'json', jq: '.[1].name, .[0].person' }, 80)).toBe(
      '=cmd|x\nsecond^[[2J\n{\n  "name": "X"\n}\n',
    );
  });

  test('with jsonl filters each record', async () => {
    expect(await printed(list(), { output: 'jsonl', jq: '.contact_id' })).toBe('1\n2\n');
  });

  test('that is no filter is refused before anything is sent', async () => {
    await expect(checkOutput({ jq: '.a |' }, new AbortController().signal)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringContaining('.a |'),
    });
    await expect(checkOutput({ jq: '.[0].name' }, new AbortController().signal)).resolves.toBeUndefined();
  });

  test('that fails on the data says why', async () => {
    await expect(printed(list(), { output: 'json', jq: '.name' })).rejects.toMatchObject({
      kind: 'failed',
      message: 'The filter .name failed: Cannot index array with string "name".',
    });
  });
});

describe('the pager', () => {
  const long = { data: { shape: 'text', text: 'line\n'.repeat(60) } } as const;
  const paged = async (wish: Partial<Settings>, options: Parameters<typeof screen>[0], works = true) => {
    const { ctx, written } = screen(options);
    const shown: (string | undefined)[] = [];
    const page = async (command: string | undefined) => {
      shown.push(command);
      return works;
    };
    await print({ ...ctx, page }, long, { ...settings, ...wish });
    return { shown, stdout: written.stdout };
  };

  test('shows what is longer than the terminal', async () => {
    expect(await paged({ pager: 'less' }, { columns: 80, rows: 40 })).toEqual({ shown: ['less'], stdout: '' });
  });

  test('is not asked in a pipe, for a short text, or where nobody may be asked', async () => {
    expect((await paged({}, {})).shown).toEqual([]);
    expect((await paged({}, { columns: 80, rows: 100 })).shown).toEqual([]);
    expect((await paged({ noInput: true }, { columns: 80, rows: 40 })).shown).toEqual([]);
  });

  test('that cannot be started leaves the text to the terminal', async () => {
    expect((await paged({}, { columns: 80, rows: 40 }, false)).stdout).toBe(long.data.text);
  });
});
