import { expect, test } from 'vitest';
import { createLimiter } from '../../src/sandbox/limits.ts';

const token = [{ key: 'token a', limit: 60 }];
const sync = [...token, { key: 'sync a', limit: 30 }];
const minute = 60_000;

test('a fixed window opens with the first request and ends a minute later', () => {
  const { take } = createLimiter('on');
  for (let n = 1; n <= 60; n++) expect(take(token, n * 100).remaining).toBe(60 - n);
  expect(take(token, 30_000)).toEqual({ limit: 60, remaining: 0, retryAfter: 31 });
  expect(take(token, minute + 99)).toEqual({ limit: 60, remaining: 0, retryAfter: 1 });
  expect(take(token, minute + 100)).toEqual({ limit: 60, remaining: 59 });
});

test('a sliding window frees each request a minute after it was made', () => {
  const { take } = createLimiter('sliding');
  for (let n = 0; n < 60; n++) take(token, n * 1000);
  expect(take(token, 59_500)).toEqual({ limit: 60, remaining: 0, retryAfter: 1 });
  expect(take(token, minute)).toEqual({ limit: 60, remaining: 0 });
  expect(take(token, minute)).toEqual({ limit: 60, remaining: 0, retryAfter: 1 });
  expect(take(token, minute + 5000).remaining).toBe(4);
});

test('of two limits the headers show the one that runs out first, and a refused request counts for neither', () => {
  const { take } = createLimiter('on');
  expect(take(sync, 0)).toEqual({ limit: 30, remaining: 29 });
  for (let n = 0; n < 29; n++) take(sync, 0);
  expect(take(sync, 0)).toMatchObject({ limit: 30, retryAfter: 60 });
  expect(take(token, 0)).toEqual({ limit: 60, remaining: 29 });
  for (let n = 0; n < 29; n++) take(token, 0);
  expect(take(token, 0)).toMatchObject({ limit: 60, retryAfter: 60 });
});

test('each token has limits of its own, and clearing gives all of them back', () => {
  const limiter = createLimiter('on');
  for (let n = 0; n < 61; n++) limiter.take(token, 0);
  expect(limiter.take([{ key: 'token b', limit: 60 }], 0).remaining).toBe(59);
  limiter.clear();
  expect(limiter.take(token, 0).remaining).toBe(59);
});

test('limits that are off never run out', () => {
  const { take } = createLimiter('off');
  for (let n = 0; n < 100; n++) expect(take(token, 0)).toEqual({ limit: 60, remaining: 60 });
  expect(take(sync, 0)).toEqual({ limit: 30, remaining: 30 });
});
