// What a handler of the sandbox refuses beyond the schemas stands in the table, which OpenAPI and assistants repeat.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';

const folder = new URL('../../src/sandbox/handlers/', import.meta.url);
const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));

/** The handlers whose own lines refuse something. */
const refusing = sources
  .flatMap((text) => [...text.matchAll(/^ {2}(?:async )?(\w+)\([\s\S]*?\n {2}\},$/gmu)])
  .filter(([lines]) => /\b(?:invalid|notSent)\(/u.test(lines))
  .map(([, id = '']) => id);

test('an operation that its handler refuses says in the table what is refused', () => {
  expect(refusing.length).toBeGreaterThan(7);
  const table = Object.values<Operation>(operations);
  const silent = refusing.filter((name) => table.some(({ id, refuses }) => id === name && refuses === undefined));
  expect(silent).toEqual([]);
});
