// Where the one statement of a query ends is the engine's to say, in the words of either engine.
import sqlite from 'node-sqlite3-wasm';
import { afterAll, describe, expect, test } from 'vitest';
import { oneStatement } from '../../src/mirror/sqlite/one-statement.cjs';

const db = new sqlite.Database();
afterAll(() => db.close());

const ofThread = (text: string) => db.prepare(text).finalize();

/** Node's own engine has other words for the same. */
const saying = (words: string) => (text: string) => {
  try {
    ofThread(text);
  } catch (error) {
    throw error instanceof Error && error.message === 'Nothing to prepare' ? new Error(words) : error;
  }
};

describe.each([
  ['in a thread', ofThread],
  ['of an earlier Node', saying('The supplied SQL string contains no statements')],
  ['of Node 24', saying('The SQL query contains no statements.')],
])('with the engine %s', (_, prepare) => {
  test.each([
    ['SELECT 1', 'SELECT 1'],
    ['SELECT 1;', 'SELECT 1'],
    ['SELECT 1 ; -- and no more;', 'SELECT 1 '],
    ["SELECT ';' /* ; */", "SELECT ';' /* ; */"],
    ["SELECT ';';\n /* ; */", "SELECT ';'"],
  ])('%j is one statement', (text, alone) => {
    expect(oneStatement(text, prepare)).toBe(alone);
  });

  test.each([
    'SELECT 1; SELECT 2',
    "SELECT ';' /* ; */ -- ;\n; SELECT 2",
    'SELECT 1; nonsense',
    'SELECT 1; SELECT "no statements"',
  ])('%j is more', (text) => {
    expect(() => oneStatement(text, prepare)).toThrow('several statements; give one at a time');
  });
});
