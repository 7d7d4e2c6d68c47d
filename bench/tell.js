// What every part of the benchmark prints: rows for people, or one JSON array with --json, which bench/run.js reads.

/**
 * @typedef {{ what: string, value: number, unit?: string, atMost?: number, atLeast?: number, detail?: string }} Row
 * A row without a target is there to compare with.
 */

/** @param {readonly Row[]} rows */
export function tell(rows) {
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else for (const row of rows) process.stdout.write(`${lineOf(row)}\n`);
}

/** @param {Row} row */
export const isMet = ({ value, atMost, atLeast }) => value <= (atMost ?? Infinity) && value >= (atLeast ?? -Infinity);

/** @param {Row} row */
export function lineOf(row) {
  const { what, value, unit = '×', atMost, atLeast, detail = '' } = row;
  const hasTarget = atMost !== undefined || atLeast !== undefined;
  const target = atMost !== undefined ? `≤ ${number(atMost)}` : atLeast !== undefined ? `≥ ${number(atLeast)}` : '';
  const verdict = !hasTarget ? ' ' : isMet(row) ? '✓' : '✗';
  return `${verdict} ${what.padEnd(46)}${`${number(value)} ${unit}`.padStart(16)}  ${target.padEnd(10)} ${detail}`.trimEnd();
}

const number = (value) => (value >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toFixed(3))));

/** @param {readonly number[]} numbers */
export const median = (numbers) => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
