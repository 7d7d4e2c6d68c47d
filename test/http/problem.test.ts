import { expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { createWorld, svc } from '../svc.ts';

const answering =
  (status: number, body: object): Exchange =>
  async () => ({
    status,
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    body: JSON.stringify(body),
  });

const problem = { type: 'about:blank', title: 'Blocked by policy', detail: 'Your network may not reach this host.' };

test.each([403, 400, 502])('a proxy that answers %i with a problem is quoted, title and detail', async (status) => {
  const world = createWorld(answering(status, { ...problem, status }));
  const { stderr, exitCode } = await svc(world, ['contacts', 'list', '--max-wait', '0']);
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).toContain('Blocked by policy: Your network may not reach this host.');
});

test('a write whose outcome is not known quotes it too', async () => {
  const world = createWorld(answering(502, problem));
  const { stderr, exitCode } = await svc(world, ['tickets', 'note', '1', '--body', 'x', '--settle', '0']);
  expect(exitCode).toBe(9);
  expect(stderr).toContain('HTTP 502, Blocked by policy: Your network may not reach this host');
});

test('what is wrong is told field by field', async () => {
  const errors = [{ detail: 'is taken', pointer: '#/contact/email' }, { detail: 'is odd' }, 'is worse'];
  const world = createWorld(answering(422, { title: 'Not valid', errors }));
  const { stderr } = await svc(world, ['contacts', 'list', '--json']);
  expect(JSON.parse(stderr.slice(stderr.indexOf('{'))).error).toMatchObject({
    message: 'Not valid.',
    fields: { 'contact.email': ['is taken'], 1: ['is odd'], 2: ['is worse'] },
  });
});
