import { describe, expect, test } from 'vitest';
import type { Settings } from '../../src/config/settings.ts';
import { Failure } from '../../src/errors.ts';
import { print } from '../../src/output/print.ts';
import type { View } from '../../src/output/view.ts';
import { screen, settings } from './fake-context.ts';

const contacts = [
  {
    contact_id: 1,
    name: 'Ada',
    tags: ['vip', 'de'],
    category: null,
    metadata: { plan: 'pro' },
    created_at: '2026-01-02T03:04:05Z',
  },
  {
    contact_id: 2,
    name: '日本\n\x1b[31m',
    tags: [],
    category: { id: 3, name: 'Bug' },
    metadata: {},
    created_at: '2026-01-03T03:04:05Z',
  },
];

const list: View = {
  data: { shape: 'list', records: contacts, columns: ['contact_id', 'name', 'tags', 'category', 'created_at'] },
};
const record: View = { data: { shape: 'record', record: contacts[0] } };

async function printed(view: View, wish: Partial<Settings> = {}, columns?: number) {
  const { ctx, written } = screen({ columns });
  const exitCode = await print(ctx, view, { ...settings, ...wish });
  return { exitCode, ...written };
}

describe('in a pipe', () => {
  test('a list is rows of tab-separated cells, whole, without header or colour', async () => {
    expect((await printed(list)).stdout).toBe(
      '1\tAda\tvip, de\t\t2026-01-02T03:04:05Z\n' + '2\t日本\\n^[[31m\t\t{"id":3,"name":"Bug"}\t2026-01-03T03:04:05Z\n',
    );
  });

  test('a record is names and values, objects by dotted names', async () => {
    expect((await printed(record)).stdout).toBe(
      'contact_id\t1\nname\tAda\ntags\tvip, de\ncategory\t\nmetadata.plan\tpro\ncreated_at\t2026-01-02T03:04:05Z\n',
    );
  });

  test('a text is printed as it is, with one newline at its end', async () => {
    expect((await printed({ data: { shape: 'text', text: 'openapi: 3.1.0' } }, { output: 'json' })).stdout).toBe(
      'openapi: 3.1.0\n',
    );
  });

  test.each(['jsonl', 'csv', undefined] as const)(
    'the first page is out while the second is waited for: %s',
    async (output) => {
      const { ctx, written } = screen({});
      async function* pages() {
        yield contacts[0];
        await expect.poll(() => written.stdout).toContain('Ada');
        yield contacts[1];
      }
      const data = { shape: 'list', records: pages(), columns: ['contact_id', 'name'] } as const;
      expect(await print(ctx, { data }, { ...settings, output })).toBe(0);
      expect(written.stdout.trimEnd().split('\n').length).toBeGreaterThan(1);
    },
  );

  test('a table that was asked for is a table, whole', async () => {
    expect((await printed(list, { output: 'table' })).stdout.split('\n')[0]).toBe(
      'Contact ID  Name         Tags     Category  Created',
    );
  });
});

describe('--json', () => {
  test('a list is one document, exact', async () => {
    const { stdout } = await printed(list, { output: 'json' });
    expect(stdout).toBe(`${JSON.stringify(contacts, null, 2)}\n`);
  });

  test('an empty list is []', async () => {
    expect((await printed({ data: { shape: 'list', records: [], columns: [] } }, { output: 'json' })).stdout).toBe(
      '[]\n',
    );
  });

  test('a failure midway leaves no half document', async () => {
    const { ctx, written } = screen();
    const records = (async function* () {
      yield contacts[0];
      throw new Failure('failed', 'The second page did not come.');
    })();
    const view: View = { data: { shape: 'list', records, columns: [] } };
    await expect(print(ctx, view, { ...settings, output: 'json' })).rejects.toThrow('second page');
    expect(written.stdout).toBe('');
  });

  test('fields are picked nested', async () => {
    const { stdout } = await printed(record, { output: 'json', fields: ['metadata.plan', 'contact_id'] });
    expect(JSON.parse(stdout)).toEqual({ metadata: { plan: 'pro' }, contact_id: 1 });
  });
});

describe('fields', () => {
  test('become the columns', async () => {
    expect((await printed(list, { fields: ['name', 'metadata.plan'] })).stdout).toBe('Ada\tpro\n日本\\n^[[31m\t\n');
  });

  test('that do not exist end a reading command, and those that do are named', async () => {
    await expect(printed({ ...list, read: true }, { fields: ['nmae'] })).rejects.toMatchObject({
      kind: 'usage',
      hint: expect.stringContaining('contact_id, name'),
    });
  });

  test('that do not exist never make a finished write look undone', async () => {
    expect((await printed(record, { fields: ['nmae'], output: 'json' })).stdout).toBe('{\n  "nmae": null\n}\n');
  });
});

describe('on a terminal', () => {
  test('times are local, people and categories are names, customer text is harmless', async () => {
    expect((await printed(list, { color: 'never' }, 80)).stdout).toBe(
      'Contact ID  Name         Tags     Category  Created\n' +
        '1           Ada          vip, de            2026-01-02 03:04\n' +
        '2           日本↵^[[31m           Bug       2026-01-03 03:04\n',
    );
  });

  test('a view made for people is shown, unless fields were asked for', async () => {
    const view: View = { ...record, human: ({ width }) => `Ada, ${width} cells` };
    expect((await printed(view, {}, 40)).stdout).toBe('Ada, 40 cells\n');
    expect((await printed(view, { fields: ['name'], color: 'never' }, 40)).stdout).toBe('name  Ada\n');
    expect((await printed(view)).stdout).toContain('contact_id\t1');
  });

  test('an empty list says so on standard error', async () => {
    const view: View = { data: { shape: 'list', records: [], columns: ['id'], empty: 'No tickets.' } };
    const { stdout, notices } = await printed(view, {}, 80);
    expect([stdout, notices]).toEqual(['', ['No tickets.']]);
  });
});

describe('the end', () => {
  test.each([
    [{}, 0],
    [{ outcome: 'partial' }, 8],
    [{ outcome: () => 'differs' }, 11],
    [{ outcome: 'failed' }, 1],
    [{ exitCode: 42 }, 42],
  ] as const)('%o ends with %i', async (end, code) => {
    expect((await printed({ data: { shape: 'nothing' }, ...end })).exitCode).toBe(code);
  });

  test('a reader that left ends the work with 0 and without a word', async () => {
    let asked = 0;
    const records = (async function* () {
      for (;;) {
        asked++;
        yield { id: asked, subject: 'x'.repeat(10_000) };
      }
    })();
    const { ctx, written } = screen({ failWrite: () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) });
    const view: View = {
      data: { shape: 'list', records, columns: ['id', 'subject'] },
      notes: ['more'],
      outcome: 'partial',
    };
    expect(await print(ctx, view, settings)).toBe(0);
    expect(written.notices).toEqual([]);
    expect(asked).toBeLessThan(10);
  });

  test('what was done before its report had no reader ends as it went, and says so', async () => {
    const { ctx, written } = screen({ failWrite: () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }) });
    const done: View = { ...record, notes: ['3 rows failed'], outcome: 'partial' };
    expect(await print(ctx, done, settings)).toBe(8);
    expect(written.notices).toEqual(['3 rows failed']);
    expect(await print(ctx, { ...record, notes: ['all done'] }, settings)).toBe(0);
    expect(written.notices).toEqual(['3 rows failed']);
  });

  test('a full disk does not hide how a write went: its failure and its code come first', async () => {
    const failWrite = () => Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' });
    const said = 'Standard output could not be written: the disk is full.';
    const ending = async (view: Partial<View>) => {
      const { ctx, written } = screen({ failWrite });
      const code = await print(ctx, { ...record, ...view }, settings).catch((error: unknown) => error);
      return [code, ...written.notices];
    };
    expect(await ending({ notes: ['3 rows failed'], outcome: 'partial' })).toEqual([8, '3 rows failed', said]);
    const failure = new Failure('unknown', 'It may or may not have been done.');
    expect(await ending({ failure })).toEqual([failure, said]);
    const hint = 'What the command did stays done; do not repeat it for its output.';
    expect(await ending({ notes: ['7 done'] })).toMatchObject([{ kind: 'failed', message: said, hint }, '7 done']);
    expect(await ending({ read: true, notes: ['7 read'] })).toMatchObject([{ kind: 'failed', message: said }]);
  });

  test('an error of the stream is heard, also beside a listener that will leave', async () => {
    const { ctx } = screen();
    // As a thread's pipe into standard output does.
    const leaves = () => ctx.stdout.off('error', leaves);
    ctx.stdout.on('error', leaves);
    await print(ctx, record, settings);
    expect(() => [1, 2].map(() => ctx.stdout.emit('error', new Error('write EPIPE')))).not.toThrow();
  });

  test('a full disk is a failure that says so', async () => {
    const { ctx } = screen({ failWrite: () => Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' }) });
    await expect(print(ctx, record, settings)).rejects.toMatchObject({
      kind: 'failed',
      message: 'Standard output could not be written: the disk is full.',
    });
  });

  test('notes follow the data, and --quiet drops them', async () => {
    const view: View = { ...record, notes: () => ['4 more'] };
    expect((await printed(view)).notices).toEqual(['4 more']);
    expect((await printed(view, { quiet: true })).notices).toEqual([]);
  });
});

describe('a stream', () => {
  const stream = (): View => ({
    data: {
      shape: 'stream',
      records: (async function* () {
        yield* contacts;
      })(),
      line: (contact: (typeof contacts)[number]) => `contact ${contact.contact_id}`,
    },
  });

  test('is a line per record', async () => {
    expect((await printed(stream())).stdout).toBe('contact 1\ncontact 2\n');
  });

  test('with --json is one object per line', async () => {
    expect((await printed(stream(), { output: 'json' })).stdout).toBe(
      contacts.map((one) => `${JSON.stringify(one)}\n`).join(''),
    );
  });
});
