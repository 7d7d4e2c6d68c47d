import { expect, test } from 'vitest';
import { Failure } from '../../../src/errors.ts';
import { reloading } from '../../../src/webhooks/serve/reloading.ts';
import { createWorld, virtualClock } from '../../svc.ts';

test('a configuration whose reading hangs, as of a pipe, is refused after 8 s, and holds up no later one', async () => {
  const said: string[] = [];
  let hangup: () => void = () => {};
  let reads = 0;
  const { env } = createWorld(() => Promise.reject(new Error('nobody is asked')));
  const ports = {
    env,
    clock: virtualClock(),
    notice: (text: string) => said.push(text),
    onHangup: (listener: () => void) => {
      hangup = listener;
      return () => {};
    },
  };
  const read = () =>
    ++reads === 1 ? new Promise<never>(() => {}) : Promise.reject(new Failure('usage', 'It is bad.'));
  const never = () => {
    throw new Error('nothing was read');
  };
  reloading(
    ports,
    { read, doorsOf: never, placeOf: never },
    {
      current: {
        doors: [],
        get configured() {
          return never();
        },
      },
      sinks: { change: never },
      store: { counts: never },
    },
  );
  hangup();
  hangup();
  await expect.poll(() => said).toHaveLength(2);
  const refused = 'The configuration was refused, and the old one stays.';
  expect(said).toEqual([`${refused} It took more than 8 seconds.`, `${refused} It is bad.`]);
});
