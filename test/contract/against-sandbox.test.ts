import { expect, test } from 'vitest';
import { type Endpoint, endpoints } from './document.ts';
import { type Subject, startSubject } from './sandbox.ts';
import { idsIn, type Scene, settled, withIds } from './scene.ts';
import { scenes } from './scenes/index.ts';

async function play(subject: Subject, { steps }: Scene): Promise<void> {
  const ids = new Map<string, unknown>();
  for (const step of steps) {
    const request = withIds(step.send, ids);
    const body = withIds(step.body, ids);
    const answer = step.control
      ? await subject.control(request.replace('/_sandbox/', ''), body)
      : await subject.send(step.as ?? 'key_acme', request, body);
    const expected = withIds(step.answer, ids);
    expect({ request, status: answer.status, body: answer.body }).toEqual({
      request,
      status: step.status,
      body: settled(expected, answer.body),
    });
    for (const [name, value] of idsIn(expected, answer.body)) ids.set(name, value);
    if (!step.control) expect(answer.headers['content-type']).toMatch(/^application\/json/u);
  }
}

test.for(scenes)('$title', async (scene) => play(startSubject({ seed: scene.seed }), scene));

test('every operation of the document is played with success', () => {
  const played = new Set<string>();
  for (const step of scenes.flatMap(({ steps }) => steps)) {
    const found = step.status < 300 && endpoints.find((endpoint) => isRequestOf(endpoint, step.send));
    if (found) played.add(found.id);
  }
  expect(endpoints.map(({ id }) => id).filter((id) => !played.has(id))).toEqual([]);
});

const isRequestOf = ({ method, path }: Endpoint, request: string) =>
  new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/gu, '[^/?]+')}(\\?|$)`, 'u').test(request);
