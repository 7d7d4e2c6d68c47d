import { folded } from '../../text/fold.ts';
import type { Fields } from '../../text/record.ts';

const clean = (value: unknown): string =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '').trim() : '';

/** As the service compares addresses: in any letter case. */
export const emailKey = (email: unknown): string => clean(email).normalize('NFC').toLowerCase();

/** What is looked for in `findText`. */
export const wordKey = (text: unknown): string => folded(clean(text));

/** What `contacts find` looks in, without accents: email, name, company, phone and the digits of it, a line each. */
export const findText = ({ email, name, last_name, company, phone }: Fields): string =>
  [
    wordKey(email),
    `${wordKey(name)} ${wordKey(last_name)}`,
    wordKey(company),
    wordKey(phone),
    digits(wordKey(phone)),
  ].join('\n');

export const digits = (text: string): string => text.replaceAll(/\D/gu, '');
