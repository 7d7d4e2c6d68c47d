// A name of --fields that no record of svc's own has is exit 2, whether or not there is a record to tell. Of the service's, which may show
// fields that its document does not name, a record has to tell.
import { expect, test } from 'vitest';
import { operationList } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

/** Lists of the service's own records. */
const ofOperations = operationList
  // A list of contacts has to be there for its members.
  .filter(({ id, answer }: Operation) => answer.shape === 'list' && id !== 'listContactLists')
  .map(({ command, ids }: Operation) => {
    if (ids === undefined) return command.join(' ');
    return 'account' in ids ? `${command.join(' ')} --account=1` : `${command.join(' ')} 1`;
  });

/** Lists that svc itself keeps, or makes of its copy: with a field that they have. */
const own: Readonly<Record<string, string>> = {
  'auth list': 'account.name',
  'templates list': 'placeholders',
  'alias list': 'command',
  'audit list': 'who.user',
  'drafts list': 'record.number',
  'webhooks inbox list': 'forward.state',
  'webhooks dead list': 'died_at',
  'contacts find nobody': 'email',
  'contacts export': 'email',
  'contacts duplicates': 'contacts',
  'tickets waiting': 'subject',
  'mirror changes': 'before',
  'mirror search nothing': 'score',
  'mirror sql SELECT-id-FROM-tickets': 'id',
};

async function empty() {
  const world = sandboxWorld({ seed: 'empty' });
  await svc(world, ['config', 'set', 'audit', 'off']);
  const tokens = { account_id: 1, scopes: ['webhooks:manage'] };
  const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
  await svc(world, ['lists', 'create', '--name', 'Nobody', '--target-industry', 'None', '--notes', 'None']);
  /** The credential that opens it. */
  const envFor = (line: string) => {
    if (line.startsWith('webhooks list')) return { SVC_API_KEY: '', SVC_ACCESS_TOKEN: access_token };
    return line.startsWith('meetings') ? { SVC_API_KEY: '', SVC_M2M_TOKEN: 'm2m_sandbox' } : undefined;
  };
  return { world, envFor };
}

const words = (line: string): string[] =>
  line.split(' ').map((word) => (word.startsWith('--') ? word : word.replaceAll('-', ' ')));

test.each(Object.entries(own))('%s', async (line, field) => {
  const { world } = await empty();
  if (/^(?:mirror|tickets|contacts)/u.test(line))
    expect(await svc(world, ['mirror', 'pull'])).toMatchObject({ exitCode: 0 });
  for (const form of ['json', 'csv', 'jsonl']) {
    const strange = await svc(world, [...words(line), '--fields', `${field},nope`, '-o', form]);
    expect([form, strange]).toEqual([
      form,
      expect.objectContaining({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringContaining('There is no field "nope" here.'),
      }),
    ]);
    expect(strange.stderr).toContain('Fields: ');
    expect(await svc(world, [...words(line), '--fields', field, '-o', form])).toMatchObject({ exitCode: 0 });
  }
});

test.each(ofOperations)('%s', async (line) => {
  const { world, envFor } = await empty();
  const strange = await svc(world, [...words(line), '--fields', 'nope'], { env: envFor(line) });
  expect(strange).toMatchObject({ stdout: '', exitCode: 0 });
});
