// What a customer keeps in an account goes through svc as it is: every key, every digit.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Exchange, HttpRequest } from '../../src/context.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { createWorld, svc } from '../svc.ts';

const keys = ['constructor', '__proto__', 'prototype', 'toString', 'hasOwnProperty'];
const dataOf = (text: string) => JSON.stringify(JSON.parse(text).metadata);
const inOrder = (from: readonly string[]) => `{${from.map((key) => `"${key}":"x"`).join(',')}}`;

test('a key of own data may have the name of anything: by flag, from a row, by svc api, in a sync', async () => {
  const world = sandboxWorld();
  const flags = keys.flatMap((key) => ['--metadata', `${key}=x`]);
  expect(await svc(world, ['contacts', 'update', '1', ...flags])).toMatchObject({ exitCode: 0 });
  expect(dataOf((await svc(world, ['contacts', 'get', '1', '--json'])).stdout)).toContain(inOrder(keys).slice(1, -1));

  const file = join(world.folder, 'rows.csv');
  await writeFile(file, `id,${keys.map((key) => `metadata.${key}`).join(',')}\n2,${keys.map(() => 'x').join(',')}\n`);
  expect(await svc(world, ['contacts', 'update', '--from', file, '--yes'])).toMatchObject({ exitCode: 0 });
  expect(dataOf((await svc(world, ['contacts', 'get', '2', '--json'])).stdout)).toContain(inOrder(keys).slice(1, -1));

  const body = `{"metadata":${inOrder(keys)}}`;
  expect(
    await svc(world, ['api', '-X', 'PATCH', '/contacts/3', '--input', '-', '--yes'], { stdin: body }),
  ).toMatchObject({ exitCode: 0 });
  expect(dataOf((await svc(world, ['contacts', 'get', '3', '--json'])).stdout)).toContain(inOrder(keys).slice(1, -1));

  const [first = '', second = '', ...rest] = keys;
  const people = join(world.folder, 'people.csv');
  const cell = inOrder([second]).replaceAll('"', '""');
  await writeFile(people, `email,name,metadata.${first},metadata\nnew@example.test,New,x,"${cell}"\n`);
  const own = rest.flatMap((key) => ['--metadata', `${key}=x`]);
  expect(await svc(world, ['contacts', 'sync', people, ...own, '--yes'])).toMatchObject({ exitCode: 0 });
  const synced = await svc(world, ['contacts', 'find', 'new@example.test', '--json']);
  expect(synced.stdout.replaceAll(/\s/gu, '')).toContain(inOrder([second, first, ...rest]).slice(1, -1));
});

test.each(['12345678901234567891', '9007199254740993.5', '1e999'])(
  'the number %s of an answer is a text of its digits, and is never sent back as another number',
  async (digits) => {
    const patched: HttpRequest[] = [];
    const contact = `{"contact_id":7,"name":"Ada","email":"a@b.test","metadata":{"discord":${digits}}}`;
    const answers: Exchange = async (request) => {
      if (request.method === 'PATCH') patched.push(request);
      const body = request.url.endsWith('/platform/account')
        ? '{"account_id":1,"name":"Acme","billing_active":true,"setup_url":null}'
        : request.url.includes('/contacts/')
          ? `{"contact":${contact}}`
          : `{"contacts":[${contact}],"meta":{"current_page":1,"last_page":1,"per_page":50,"total":1}}`;
      return { status: 200, headers: { 'content-type': 'application/json' }, body };
    };
    const world = createWorld(answers);
    for (const format of ['json', 'yaml', 'jsonl', 'csv']) {
      const { stdout } = await svc(world, ['contacts', 'list', '--fields', 'id,metadata', '-o', format]);
      expect(stdout).toMatch(new RegExp(`"${digits}"`, 'u'));
    }
    expect((await svc(world, ['api', '/contacts/7'])).stdout).toContain(`"discord": "${digits}"`);

    const { stdout: rows } = await svc(world, ['contacts', 'list', '-o', 'jsonl']);
    await svc(world, ['contacts', 'update', '--from', '-', '--yes'], { stdin: rows });
    expect(patched.map(({ body }) => dataOf(String(body)))).toEqual([`{"discord":"${digits}"}`]);
  },
);
