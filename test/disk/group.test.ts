import { expect, test } from 'vitest';
import { endWithSvc } from '../../src/disk/log/group.ts';

test('many programs at once need one listener for the end of svc, and none once they have ended', () => {
  const before = process.listenerCount('exit');
  // No process has such a number.
  const overs = Array.from({ length: 12 }, (_, n) => endWithSvc(2 ** 30 + n));
  expect(process.listenerCount('exit')).toBe(before + 1);
  for (const over of overs) over();
  expect(process.listenerCount('exit')).toBe(before);
});
