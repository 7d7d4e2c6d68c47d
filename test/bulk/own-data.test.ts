// Own data of a file of JSON arrives as it stands there, however deep it is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentReader } from '../../src/bulk/rows/row-content.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const deep = { addr: { city: 'Oslo', geo: { lat: 1.5, lon: null }, none: {} }, tags: ['a', { b: 1 }], plain: 'x' };

test.each([
  ['jsonl', JSON.stringify({ id: 11, metadata: deep })],
  ['json', JSON.stringify([{ id: 11, metadata: deep }], null, 2)],
  ['csv', `id,metadata\n11,"${JSON.stringify(deep).replaceAll('"', '""')}"\n`],
])('an object in metadata stays one: %s', async (ending, text) => {
  const world = sandboxWorld();
  const file = join(world.folder, `rows.${ending}`);
  writeFileSync(file, text);
  expect(await svc(world, ['contacts', 'update', '--from', file, '--yes'])).toMatchObject({ exitCode: 0 });
  const shown = await svc(world, ['contacts', 'get', '11', '--jq', '.metadata']);
  expect(JSON.parse(shown.stdout)).toMatchObject(deep);
});

test('what svc shows of a contact can be sent back, and changes nothing', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'rows.jsonl');
  writeFileSync(file, JSON.stringify({ id: 12, metadata: deep }));
  expect(await svc(world, ['contacts', 'update', '--from', file, '--yes'])).toMatchObject({ exitCode: 0 });
  const shown = await svc(world, ['contacts', 'get', '12', '--json']);
  writeFileSync(file, shown.stdout);
  expect(await svc(world, ['contacts', 'update', '--from', file, '--yes'])).toMatchObject({ exitCode: 0 });
  const again = await svc(world, ['contacts', 'get', '12', '--json']);
  expect(JSON.parse(again.stdout).metadata).toEqual(JSON.parse(shown.stdout).metadata);
});

test('a row keeps the name that it had when each inner key was a column of its own', () => {
  const target = undefined;
  const reader = (names: readonly string[]) =>
    contentReader({ names, targets: names.map(() => target), ignored: new Set() });
  const whole = reader(['subject', 'metadata.Addr']);
  const parts = reader(['subject', 'metadata.Addr.City', 'metadata.Addr.geo.lat']);
  const row = { line: 2, cells: ['Row', { City: 'Oslo', geo: { lat: 1.5, lon: undefined, none: {} } }] };
  const flat = { line: 2, cells: ['Row', 'Oslo', 1.5] };
  expect(whole.nameOf(row)).toBe(parts.nameOf(flat));
  expect(whole.shapeOf(row)).toEqual(parts.shapeOf(flat));
});

test('a template reads what an object of own data holds, and a name that is nowhere is refused', async () => {
  const world = sandboxWorld();
  const [file, template] = [join(world.folder, 'rows.json'), join(world.folder, 'hi.md')];
  const row = (id: number, plan: object) => ({ id, metadata: { plan } });
  writeFileSync(
    file,
    JSON.stringify([row(8, { name: 'Gold', at: { city: 'Oslo' } }), row(9, { Name: 'Tin', at: {} })]),
  );
  const sample = async (text: string) => {
    writeFileSync(template, text);
    return svc(world, ['tickets', 'reply', '--from', file, '--template', template, '--dry-run', '--json']);
  };
  const { stdout } = await sample('Hi {{metadata.plan.name}}');
  expect(JSON.parse(stdout).sample.map((one: { body: { body: string } }) => one.body.body)).toEqual([
    'Hi Gold',
    'Hi Tin',
  ]);
  const deep = JSON.parse((await sample('In {{metadata.plan.at.city}}')).stdout);
  expect(deep).toMatchObject({ sample: [{ body: { body: 'In Oslo' } }], errors: [{ line: 1 }] });
  expect((await sample('Hi {{metadata.other.name}}')).exitCode).toBe(2);
});

test('the order in which the keys of an object are written is no content', () => {
  const reader = (names: readonly string[]) =>
    contentReader({ names, targets: names.map(() => undefined), ignored: new Set() });
  const named = (data: object) =>
    reader(['metadata', 'metadata_x', 'email']).nameOf({ line: 2, cells: [data, 'x', 'e'] });
  const [one, other] = [
    { plan: { b: 2, a: 1 }, city: 'O' },
    { city: 'O', plan: { a: 1, b: 2 } },
  ];
  expect(named(one)).toBe(named(other));
  const parts = reader(['email', 'metadata.plan.b', 'metadata_x', 'metadata.plan.a', 'metadata.city']);
  expect(named(one)).toBe(parts.nameOf({ line: 2, cells: ['e', 2, 'x', 1, 'O'] }));
});

test.each(['constructor', '__proto__', 'toString'])(
  'a placeholder {{%s}} is filled by nothing but a column or --set',
  async (name) => {
    const world = sandboxWorld();
    const [file, template] = [join(world.folder, 'rows.csv'), join(world.folder, 'hi.md')];
    writeFileSync(file, 'id\n8\n');
    writeFileSync(template, `Hi {{${name}}}`);
    const ran = await svc(world, ['tickets', 'reply', '--from', file, '--template', template, '--yes']);
    expect(ran.exitCode).toBe(2);
    expect(world.sent.filter((line) => line.startsWith('POST'))).toEqual([]);
  },
);

test('a column that is named as a part of every object, and a delimiter that is, are no crash', async () => {
  const world = sandboxWorld();
  const file = join(world.folder, 'rows.csv');
  writeFileSync(file, 'id,constructor.x\n12,1\n');
  for (const more of [[], ['--delimiter', 'constructor'], ['--map', '#0=company']]) {
    const ran = await svc(world, ['contacts', 'update', '--from', file, '--yes', ...more]);
    expect([ran.exitCode, ran.stderr]).toEqual([2, expect.not.stringContaining('unexpectedly')]);
  }
});
