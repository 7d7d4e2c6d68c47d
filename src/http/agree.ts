/**
 * Whether what the service holds is what was sent, allowing for what a service may do to it on the way in: trimming,
 * the Unicode form, line ends, runs of spaces, the case of an email, the punctuation of a phone number.
 */
export const isSameText = (stored: unknown, sent: unknown): boolean => plain(stored) === plain(sent);

export const isSameEmail = (stored: unknown, sent: unknown): boolean =>
  plain(stored).toLowerCase() === plain(sent).toLowerCase();

export const isSamePhone = (stored: unknown, sent: unknown): boolean => digits(stored) === digits(sent);

export const isSameUrl = (stored: unknown, sent: unknown): boolean => address(stored) === address(sent);

/** Absent, null and empty are the same: services store one for the other. */
const plain = (value: unknown): string =>
  typeof value === 'string' ? value.normalize('NFC').replaceAll(/\s+/gu, ' ').trim() : '';

const digits = (value: unknown): string => plain(value).replaceAll(/\D/gu, '');

/** The address that a text means. */
export const address = (value: unknown): string => {
  const text = plain(value);
  return URL.canParse(text) ? new URL(text).href : text;
};

/** The same for texts that agree, whatever is compared of them. */
export const likeness = (...texts: readonly unknown[]): string =>
  JSON.stringify(texts.map((text) => plain(text).toLowerCase()));
