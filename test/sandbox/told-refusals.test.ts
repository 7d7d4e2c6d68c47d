// What a handler of the sandbox refuses beyond the schemas stands in the table, which OpenAPI and assistants repeat; and what
// reaches a customer fails there as it may at the service.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operations } from '../../src/api/index.ts';
import type { Operation } from '../../src/api/operation.ts';

const folder = new URL('../../src/sandbox/handlers/', import.meta.url);
const sources = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'));

const handlers = sources.flatMap((text) => [...text.matchAll(/^ {2}(?:async )?(\w+)\([\s\S]*?\n {2}\},$/gmu)]);

/** Those whose own lines have something. */
const having = (words: RegExp) => handlers.filter(([lines]) => words.test(lines)).map(([, id = '']) => id);

const table = Object.values<Operation>(operations);

test('an operation that its handler refuses says in the table what is refused', () => {
  const refusing = having(/\b(?:invalid|notSent)\(/u);
  expect(refusing.length).toBeGreaterThan(7);
  const silent = refusing.filter((name) => table.some(({ id, refuses }) => id === name && refuses === undefined));
  expect(silent).toEqual([]);
});

test('what reaches a customer each time is refused where sending fails', () => {
  const failing = having(/\bsends_fail\b/u);
  expect(failing.length).toBeGreaterThan(1);
  const silent = table.filter(({ id, reaches }) => reaches === 'customer' && !failing.includes(id));
  expect(silent.map(({ id }) => id)).toEqual([]);
});
