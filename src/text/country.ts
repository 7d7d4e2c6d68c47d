/** The languages in which a service, or a person, is likely to name a country. */
const languages = 'en de fr es it nl pt pl sv da nb fi cs tr ru ja zh'.split(' ');

/** What people write for a country that is not its code of two letters. */
const otherCodes: Readonly<Record<string, string>> = { UK: 'GB', USA: 'US', UAE: 'AE' };

/**
 * Whether the code, as `US`, is the one of the country of that name, as `United States` or `United States of America`. Countries
 * have more names than any table: one that no country is known by is taken where it shares a word with the country's own.
 */
export function isCountryCodeOf(code: string, name: string): boolean {
  const typed = code.trim().toUpperCase();
  const region = otherCodes[typed] ?? typed;
  const meant = plain(name);
  // A code of three letters is none that the tables of Unicode know.
  if (/^[A-Z]{3}$/u.test(region)) return meant.length > 3;
  if (!/^[A-Z]{2}$/u.test(region) || meant.length < 4) return false;
  const own = namesOf(region);
  if (own.some((known) => meant === known || meant.startsWith(`${known} `))) return true;
  if (pairsOfLetters().some((other) => other !== region && namesOf(other).includes(meant))) return false;
  const beginnings = new Set(own.flatMap(beginningsIn));
  return beginningsIn(meant).some((one) => beginnings.has(one));
}

/** Every pair of letters: which of them are countries the tables of Unicode know. Made only where it is asked for. */
function pairsOfLetters(): string[] {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters.flatMap((first) => letters.map((second) => first + second));
}

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^the /u, '');

const common = new Set([
  'land',
  'isla',
  'repu',
  'stat',
  'unit',
  'demo',
  'fede',
  'sout',
  'nort',
  'west',
  'east',
  'sain',
]);

/** The first letters of each word that tells something: `Czech Republic` and `Czechia` have `czec`. */
const beginningsIn = (text: string): string[] =>
  text
    .split(' ')
    .map((word) => word.slice(0, 4))
    .filter((word) => word.length === 4 && !common.has(word));

function namesOf(region: string): string[] {
  const names = languages.map((language) => {
    const table = new Intl.DisplayNames([language], { type: 'region', fallback: 'none' });
    return plain(table.of(region) ?? '');
  });
  return names.filter((name) => name !== '');
}
