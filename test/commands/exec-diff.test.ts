import { expect, test } from 'vitest';
import { createWorld, svc } from '../svc.ts';

test('what sandbox exec --diff tells a terminal breaks no word', async () => {
  const world = createWorld(async () => ({ lost: 'before-sending', reason: 'refused', detail: 'Nobody is asked.' }));
  const update = `fetch(process.env.SVC_BASE_URL + '/contacts/7', {
    method: 'PATCH',
    headers: { authorization: 'Bearer ' + process.env.SVC_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ company: 'Wonderland and the other side of the looking glass' }),
  }).then(({ ok }) => process.exit(ok ? 0 : 9))`;
  const ran = await svc(world, ['sandbox', 'exec', '--diff', '--', process.execPath, '-e', update], { columns: 40 });
  expect(ran.exitCode).toBe(0);
  expect(ran.stderr.split('\n').filter((line) => line.length > 40)).toEqual([]);
  expect(ran.stderr.replace(/\s+/gu, ' ')).toContain('→ Wonderland and the other side of the looking glass');
});
