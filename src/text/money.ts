import { Failure } from '../errors.ts';

/**
 * A decimal amount in minor units, exactly: the digits are moved, never multiplied. How many there are comes from the
 * currency (EUR 2, JPY 0, KWD 3).
 */
export function minorUnits(amount: string, currency: string): number {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  const match = /^(-?)(\d+)(?:\.(\d+))?$/u.exec(amount.trim());
  const fraction = match?.[3] ?? '';
  if (!match || fraction.length > digits) {
    const example = digits === 0 ? '1999' : `19.${'9'.repeat(digits)}`;
    throw new Failure('usage', `--value must be an amount of ${currency} like ${example}, not "${amount}".`);
  }
  const minor = Number(`${match[1]}${match[2]}${fraction.padEnd(digits, '0')}`);
  if (!Number.isSafeInteger(minor)) throw new Failure('usage', `--value ${amount} is too large.`);
  return minor;
}
