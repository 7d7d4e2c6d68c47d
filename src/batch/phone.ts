import { Failure } from '../errors.ts';

/**
 * What the service makes of a phone. `guessed`: a number without its country, which it takes for a North American one.
 * `national`: one that it cannot take for that either, and drops. `doubtful`: no such number exists, though it could.
 * `ignored`: no number at all.
 */
export type PhoneVerdict = 'fine' | 'guessed' | 'national' | 'doubtful' | 'ignored';

export type Phones = {
  /** The number to send for a cell. */
  read(cell: string): string;
  judge(phone: string): PhoneVerdict;
  /** How the service may store it (`+13125550163`); undefined where its digits say the same, or it is no number. */
  stored(phone: string): string | undefined;
};

/** What the service drops without a word. */
export const isDropped = (verdict: PhoneVerdict): boolean => verdict !== 'fine' && verdict !== 'guessed';

export const noPhones: Phones = { read: (cell) => cell, judge: () => 'fine', stored: () => undefined };

type Library = typeof import('libphonenumber-js/min');
type Country = import('libphonenumber-js/min').CountryCode;

const plus = 43;
const separators = new Set([...' ().-'].map((character) => character.charCodeAt(0)));

/**
 * Which formats the service takes is not described (service.md#contacts-2). It stores E.164 and its create wants +1, so we judge as a library
 * does that takes a number without a country for a North American one. Parsing takes microseconds, and a file may
 * have millions of phones: the ordinary ones are judged by the library's own table of numbers alone.
 */
export async function loadPhones(wantedCountry?: string): Promise<Phones> {
  const library = await import('libphonenumber-js/min');
  const country = wantedCountry === undefined ? undefined : countryOf(library, wantedCountry);
  const isOrdinary = ordinaryNumbers(library);
  const parse = (phone: string, home?: Country) =>
    // 00 is how much of the world dials +. The longest extension and every separator fit in 250 characters.
    phone.length > 250 ? undefined : library.parsePhoneNumberFromString(phone.replace(/^00(?=[1-9])/u, '+'), home);

  return {
    read(cell) {
      const phone = firstNumber(cell);
      if (country === undefined || isOrdinary(phone) || parse(phone)) return phone;
      const number = parse(phone, country);
      return number?.isPossible() ? number.number : phone;
    },
    judge(phone) {
      if (isOrdinary(phone)) return 'fine';
      if (isOrdinaryHere(phone)) return 'guessed';
      if (phone.length > 250 || phone.replaceAll(/\D/gu, '').length < 5) return 'ignored';
      const number = parse(phone);
      if (number?.isPossible()) return number.isValid() ? 'fine' : 'doubtful';
      if (number) return 'ignored';
      if (parse(phone, 'US')?.isPossible()) return 'guessed';
      // With a plus, it is of a country that does not exist; with letters, some other text.
      return /[+\p{L}]/u.test(phone) ? 'ignored' : 'national';
    },
    stored: (phone) => (isOrdinary(phone) || isOrdinaryHere(phone) ? undefined : parse(phone.trim(), 'US')?.number),
  };
}

/** Without the apostrophe by which a spreadsheet says that a cell is text, and the first of several, as Google joins them. */
function firstNumber(cell: string): string {
  const first = cell.charCodeAt(0);
  const phone = first === 39 || first === 0x2019 ? cell.slice(1).trim() : cell;
  const end = phone.indexOf(':::');
  return end < 0 ? phone : phone.slice(0, end).trim();
}

function countryOf(library: Library, wanted: string): Country {
  const country = library.getCountries().find((each) => each === wanted.trim().toUpperCase());
  if (country) return country;
  throw new Failure('usage', `--phone-country: there is no country "${wanted}".`, {
    hint:
      wanted.trim().toUpperCase() === 'UK'
        ? 'The United Kingdom is GB: --phone-country GB'
        : 'Two letters name it, for example --phone-country FR',
  });
}

/** Ten digits as North America writes them, or eleven with its 1, and the usual separators. */
function isOrdinaryHere(phone: string): boolean {
  let digits = 0;
  let start = 0; // the first two digits as a number
  for (let i = 0; i < phone.length; i++) {
    const code = phone.charCodeAt(i);
    if (code >= 48 && code <= 57) {
      if (++digits <= 2) start = start * 10 + code - 48;
    } else if (!separators.has(code)) return false;
  }
  return (digits === 10 && start >= 20) || (digits === 11 && start >= 12 && start < 20);
}

/** Digits alone, where there is nothing else but the usual separators and a plus in front; else nothing. */
function digitsOf(phone: string): string {
  let digits = '';
  let from = phone.charCodeAt(0) === plus ? 1 : 0;
  for (let i = from; i <= phone.length; i++) {
    const code = phone.charCodeAt(i);
    if (code >= 48 && code <= 57) continue;
    if (i === phone.length && digits === '') return phone.slice(from);
    if (i < phone.length && !separators.has(code)) return '';
    digits += phone.slice(from, i);
    from = i + 1;
  }
  return digits;
}

/** Says of a number with a plus that it exists, by the library's pattern for its country alone. */
function ordinaryNumbers(library: Library): (phone: string) => boolean {
  const sources = new Map<string, Set<string>>();
  const metadata = new library.Metadata();
  for (const country of library.getCountries()) {
    metadata.selectNumberingPlan(country);
    const code: string = library.getCountryCallingCode(country);
    const known = sources.get(code) ?? new Set();
    known.add(patternOf(metadata.numberingPlan));
    sources.set(code, known);
  }
  const patterns = new Map([...sources].map(([code, all]) => [code, new RegExp(`^(?:${[...all].join('|')})$`, 'u')]));
  return (phone) => {
    if (phone.charCodeAt(0) !== plus) return false;
    const digits = digitsOf(phone);
    for (let length = 1; length <= 3; length++) {
      const pattern = patterns.get(digits.slice(0, length));
      if (pattern) return pattern.test(digits.slice(length));
    }
    return false;
  };
}

/** The library has it, and does not say so in its types; without it, every number is parsed. */
function patternOf(plan: object | undefined): string {
  if (!plan || !('nationalNumberPattern' in plan) || typeof plan.nationalNumberPattern !== 'function') return '(?!)';
  return String(plan.nationalNumberPattern());
}
