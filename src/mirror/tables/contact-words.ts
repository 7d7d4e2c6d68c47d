import type { Fields } from '../../text/record.ts';

const folded = (value: unknown): string =>
  typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '').trim().normalize('NFC').toLowerCase() : '';

/** As the service compares addresses: in any letter case. */
export const emailKey = (email: unknown): string => folded(email);

/** What `contacts find` looks in: email, name, company, phone and the digits of it, a line each. */
export const findText = ({ email, name, last_name, company, phone }: Fields): string =>
  [folded(email), `${folded(name)} ${folded(last_name)}`, folded(company), folded(phone), digits(folded(phone))].join(
    '\n',
  );

export const digits = (text: string): string => text.replaceAll(/\D/gu, '');
