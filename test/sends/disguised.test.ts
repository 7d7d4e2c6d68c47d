// What a server may take for a send, though a person or a rule would read something else of it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { desk, writesOf } from './drafting.ts';

const inMode = (mode: string) => ({ env: { SVC_SENDS: mode } });

const textOfReply = '{"body":"Hello"}';

test.each([
  ['a form', 'Content-Type: application/x-www-form-urlencoded', '{"body":"Hello&body=Other"}'],
  ['a form to a server that takes _ for -', 'Content_Type: application/x-www-form-urlencoded', textOfReply],
  ['XML', 'Content-Type: text/xml', textOfReply],
  ['another encoding', 'Content-Type: application/json; charset=utf-7', textOfReply],
  ['a list', 'Content-Type: application/json', `[${textOfReply}]`],
  ['a text', 'Content-Type: application/json', '"Hello"'],
] as const)(
  'a reply whose body may be %s is judged by nothing that a person reads, so it is refused',
  async (_, type, stdin) => {
    const { world, run } = desk();
    const policy = join(world.folder, 'policy.yaml');
    writeFileSync(policy, 'sends:\n  deny: \'.body.body == "Other"\'\n');
    const line = ['api', '/tickets/8/replies', '--input', '-', '-H', type];
    for (const env of [{ SVC_SENDS: 'draft' }, { SVC_SENDS: 'ask' }, { SVC_POLICY: policy }])
      expect(await run(line, { env, stdin })).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(/Nothing was sent.*JSON object/u),
      });
    expect(writesOf(world)).toEqual([]);
  },
);

test.each(['application/json', 'application/json; charset=utf-8', 'application/vnd.api+json; charset="UTF-8"'])(
  'a reply with the type %s is one as ever',
  async (type) => {
    const { draft } = desk();
    expect(
      await draft(`api /tickets/8/replies -f body=Hello -H Content-Type:${type.replaceAll(' ', '')}`),
    ).toMatchObject({
      state: 'waiting',
    });
  },
);

test.each([
  { Status: 'published' },
  { 'status ': 'published' },
  { entry: { status: 'published' } },
  [{ title: 'Faster', content: 'Seconds', status: 'published' }],
])('an entry of which svc does not know whether it is public is not let out in mode draft: %j', async (more) => {
  const { world, run } = desk();
  const body = Array.isArray(more) ? more : { title: 'Faster', content: 'Seconds', ...more };
  const stdin = JSON.stringify(body);
  for (const line of ['api -X POST /changelog --input -', 'api -X PATCH /changelog/31 --input -'])
    await run(line, { ...inMode('draft'), stdin });
  expect(writesOf(world)).toEqual([]);
});

test('an entry of which svc knows that it stays a draft is written in mode draft', async () => {
  const { world, ok } = desk();
  await ok(['api', '/changelog', '-f', 'title=Faster', '-f', 'content=Seconds', '-f', 'labels[]=new'], inMode('draft'));
  await ok(['api', '-X', 'PATCH', '/changelog/31', '-f', 'title=Better', '-f', 'status=draft'], inMode('draft'));
  expect(writesOf(world)).toEqual(['POST /changelog', 'PATCH /changelog/31']);
});
