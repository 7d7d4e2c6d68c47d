import { expect, test } from 'vitest';
import { outputs } from '../../src/config/outputs.ts';
import type { Output, Settings } from '../../src/config/settings.ts';
import { Failure } from '../../src/errors.ts';
import { printFailure } from '../../src/output/failure.ts';
import { print } from '../../src/output/print.ts';
import type { View } from '../../src/output/view.ts';
import { anyText, fc } from '../chance.ts';
import { draws } from '../thorough.ts';
import { screen, settings } from './fake-context.ts';
import { terminalCells } from './terminal-cells.ts';

/** What a customer could write to take a terminal over, between what customers do write. */
const customerText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\x1b]0;title\x07',
        '\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\',
        '\x1b]52;c;aGk=\x07',
        '\x1b[2J\x1b[H',
        '\x1b[31m',
        '\x9b1m',
        '\x90q\x9c',
        '\u202Egnp.exe',
        '\u2066x\u2069',
        '\u200B',
        '\u200D',
        '\uFEFF',
        '\u{E0041}',
        '\u2028',
        '\r',
        '\n',
        '\t',
        '\0',
        '\b\b\b',
        '\x7f',
        '\ud800',
        '日本語',
        '👨‍👩‍👧',
        'e\u0301',
        '=1+1',
        'word ',
      ),
      anyText({ maxLength: 5 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

/** Our own colours are the only thing that a terminal is told. */
function expectHarmless(shown: string) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours begin with ESC
  const told = shown.replaceAll(/\x1b\[\d{1,2}m/gu, '').replaceAll('\n', '');
  expect(told).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u200B\uFEFF\p{Zl}\p{Zp}\u{E0041}]/u);
}

const record = (text: string, other: string) => ({
  id: 7,
  subject: text,
  status: other,
  contact: { name: text, last_name: other },
  tags: [text, other],
  // A key may hold anything too.
  metadata: { [other]: text },
  messages: [{ body: text }],
  created_at: other,
});

async function shown(view: View, wish: Partial<Settings>, columns: number) {
  const { ctx, written } = screen({ columns });
  await print(ctx, view, { ...settings, color: 'always', ...wish });
  return written;
}

const shapes = (text: string, other: string): View[] => [
  {
    data: {
      shape: 'list',
      records: [record(text, other), record(other, text)],
      columns: ['id', 'subject', 'status', 'contact', 'tags', 'metadata', 'created_at'],
    },
    notes: [text],
  },
  { data: { shape: 'record', record: record(text, other) }, notes: () => [other] },
];

test.each(outputs)('no customer text acts on a terminal as %s', async (output) => {
  await fc.assert(
    fc.asyncProperty(customerText, customerText, async (text, other) => {
      for (const view of shapes(text, other)) {
        const { stdout, notices } = await shown(view, { output }, 80);
        expectHarmless(stdout);
        for (const notice of notices) expectHarmless(notice);
      }
    }),
    { numRuns: draws(10, 60) },
  );
});

test('no customer text acts on a terminal through --jq, nor through the rows of a pipe', async () => {
  await fc.assert(
    fc.asyncProperty(customerText, customerText, async (text, other) => {
      for (const view of shapes(text, other)) {
        expectHarmless((await shown(view, { output: 'json', jq: '.., (.[]? | .subject?)' }, 80)).stdout);
        const { ctx, written } = screen();
        await print(ctx, view, settings);
        expectHarmless(written.stdout.replaceAll('\t', ''));
      }
    }),
    { numRuns: draws(10, 25) },
  );
});

test('no line of a table or a record is wider than the terminal, whatever customers wrote', {
  tags: ['long'],
}, async () => {
  await fc.assert(
    fc.asyncProperty(customerText, customerText, fc.constantFrom(40, 80, 200), async (text, other, columns) => {
      for (const view of shapes(text, other)) {
        const { stdout } = await shown(view, { output: 'table' }, columns);
        for (const line of stdout.split('\n')) expect(terminalCells(line)).toBeLessThanOrEqual(columns);
      }
    }),
    { numRuns: draws(10, 60) },
  );
});

test('no customer text acts through an error, its advice, its fields or its JSON', async () => {
  await fc.assert(
    fc.asyncProperty(customerText, customerText, async (text, other) => {
      const { ctx, written } = screen({ columns: 80 });
      const failure = new Failure('rejected', text, { hint: other, fields: { [text]: [other], email: [text] } });
      await printFailure(ctx, failure, { color: 'always', output: 'json' });
      expectHarmless(written.stderr);
      const json = written.stderr.trimEnd().split('\n').at(-1) ?? '';
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(failure)));
    }),
    { numRuns: draws(10, 60) },
  );
});

test('what reaches a machine is exact', async () => {
  await fc.assert(
    fc.asyncProperty(customerText, customerText, async (text, other) => {
      const [list] = shapes(text, other);
      for (const output of ['json', 'jsonl'] satisfies Output[]) {
        const { ctx, written } = screen();
        await print(ctx, list as View, { ...settings, output });
        const read =
          output === 'json'
            ? JSON.parse(written.stdout)
            : written.stdout
                .trim()
                .split('\n')
                .map((line) => JSON.parse(line));
        expect(read).toEqual(JSON.parse(JSON.stringify([record(text, other), record(other, text)])));
      }
    }),
    { numRuns: draws(10, 60) },
  );
});

test('a screen or a line that forgot to make customer text harmless still cannot act', async () => {
  await fc.assert(
    fc.asyncProperty(customerText, async (text) => {
      const human = () => `\x1b[1m${text}\x1b[22m`;
      expectHarmless((await shown({ data: { shape: 'nothing' }, human }, {}, 80)).stdout);
      expectHarmless((await shown({ data: { shape: 'text', text } }, {}, 80)).stdout);
      const records = (async function* () {
        yield text;
      })();
      expectHarmless((await shown({ data: { shape: 'stream', records, line: human } }, {}, 80)).stdout);
    }),
    { numRuns: draws(10, 60) },
  );
});
