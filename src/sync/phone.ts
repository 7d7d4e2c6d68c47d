/** Says whether the service would make nothing of a phone and silently ignore it (Contact, Phone rules). */
export type IgnoresPhone = (phone: string) => boolean;

const plus = 43;
const separators = new Set([...' ().-'].map((character) => character.charCodeAt(0)));

/**
 * Which formats the service takes is not shown. It stores E.164 and its create wants +1, so we read as a library
 * does that takes a number without a country for a North American one. Parsing takes microseconds, and a file may
 * have millions of phones: the ordinary ones are judged by the library's own table of lengths alone.
 */
export async function loadPhoneCheck(): Promise<IgnoresPhone> {
  const phones = await import('libphonenumber-js/min');
  const lengths = new Map<number, Set<number>>();
  const metadata = new phones.Metadata();
  for (const country of phones.getCountries()) {
    metadata.selectNumberingPlan(country);
    const code = Number(phones.getCountryCallingCode(country));
    const known = lengths.get(code) ?? new Set();
    for (const length of metadata.numberingPlan?.possibleLengths() ?? []) known.add(length);
    lengths.set(code, known);
  }

  /** Digits and the usual separators only, and as many digits as the country or North America has. */
  const isOrdinary = (phone: string): boolean => {
    let digits = 0;
    let start = 0; // the first four digits as a number
    for (let i = 0; i < phone.length; i++) {
      const code = phone.charCodeAt(i);
      if (code >= 48 && code <= 57) {
        if (++digits <= 4) start = start * 10 + code - 48;
      } else if (!(code === plus && digits === 0) && !separators.has(code)) return false;
    }
    if (digits < 7) return false;
    if (phone.charCodeAt(0) !== plus) {
      return (digits === 10 && start >= 2000) || (digits === 11 && start >= 1200 && start < 2000);
    }
    for (const [length, divisor] of [
      [1, 1000],
      [2, 100],
      [3, 10],
    ] as const) {
      const possible = lengths.get(Math.trunc(start / divisor));
      if (possible) return possible.has(digits - length);
    }
    return false;
  };

  return (phone) => {
    if (isOrdinary(phone)) return false;
    // The longest extension and every separator fit in; beyond, it is some other text.
    if (phone.length > 250 || phone.replaceAll(/\D/gu, '').length < 5) return true;
    // 00 is how much of the world dials +.
    return !phones.parsePhoneNumberFromString(phone.replace(/^00(?=[1-9])/u, '+'), 'US')?.isPossible();
  };
}
