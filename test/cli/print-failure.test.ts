import { describe, expect, test } from 'vitest';
import { Failure } from '../../src/errors.ts';
import { printFailure } from '../../src/output/failure.ts';
import { print } from '../../src/output/print.ts';
import type { View } from '../../src/output/view.ts';
import { screen, settings } from './fake-context.ts';

const refused = new Failure('rejected', 'The service refused the contact.', {
  status: 422,
  hint: 'Mend the fields and send it again.',
  fields: { email: ['The email field is required.'], phone: ['Too short.', 'Digits only.'] },
});

describe('a failure', () => {
  test('is a line of fact, the fields, and a line of advice, on standard error', async () => {
    const { ctx, written } = screen();
    expect(await printFailure(ctx, refused)).toBe(6);
    expect(written).toMatchObject({
      stdout: '',
      stderr:
        'Error: The service refused the contact.\n' +
        '  email: The email field is required.\n' +
        '  phone: Too short.\n' +
        '  phone: Digits only.\n' +
        'Mend the fields and send it again.\n',
    });
  });

  test('with --json a view that is partly done has one too, without an Error: and with --quiet', async () => {
    const view: View = { data: { shape: 'nothing' }, outcome: 'partial', notes: ['1 of 2 is done.'] };
    const line = { kind: 'partial', exit_code: 8, status: null, message: '1 of 2 is done.', hint: null, fields: null };
    for (const [wish, said] of [
      [{ output: 'json' }, `${JSON.stringify({ error: line })}\n`],
      [{ output: 'json', quiet: true }, `${JSON.stringify({ error: line })}\n`],
      [{}, ''],
    ] as const) {
      const { ctx, written } = screen();
      expect(await print(ctx, view, { ...settings, ...wish })).toBe(8);
      expect(written.stderr).toBe(said);
    }
  });

  test('with --json has a last line for machines', async () => {
    const { ctx, written } = screen();
    await printFailure(ctx, refused, { output: 'json' });
    expect(JSON.parse(written.stderr.trimEnd().split('\n').at(-1) ?? '')).toEqual({
      error: {
        kind: 'rejected',
        exit_code: 6,
        status: 422,
        message: 'The service refused the contact.',
        hint: 'Mend the fields and send it again.',
        fields: { email: ['The email field is required.'], phone: ['Too short.', 'Digits only.'] },
      },
    });
  });

  test.each([
    [{}, 80, true],
    [{ NO_COLOR: '1' }, 80, false],
    [{ NO_COLOR: '' }, 80, true],
    [{ TERM: 'dumb' }, 80, false],
    [{ FORCE_COLOR: '0' }, 80, false],
    [{}, undefined, false],
    [{ FORCE_COLOR: '1' }, undefined, true],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, undefined, false],
  ])('with %j on a terminal of %s columns is coloured: %s', async (env, columns, colored) => {
    const { ctx, written } = screen({ columns, env });
    await printFailure(ctx, refused);
    expect(written.stderr.includes('\x1b[31mError:\x1b[39m')).toBe(colored);
  });
});
