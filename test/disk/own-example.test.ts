import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withOwnExample } from '../../src/disk/place/own-example.ts';

const put = (...path: string[]): string => {
  const file = join(...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '');
  return file;
};

test('an example names a file that is there: in this folder, or else in the package', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const program = put(root, 'a package', 'bin', 'svc.js');
  const line = 'svc webhooks serve --config examples/svc-webhooks.yaml --check';
  const here = join(root, 'here');
  expect(withOwnExample(line, here, program)).toBe(line);
  const own = put(root, 'a package', 'examples', 'svc-webhooks.yaml');
  expect(withOwnExample(line, here, program)).toBe(`svc webhooks serve --config '${own}' --check`);
  expect(withOwnExample(line, here, join(root, 'gone'))).toBe(line);
  put(here, 'examples', 'svc-webhooks.yaml');
  expect(withOwnExample(line, here, program)).toBe(line);
});
