/** The languages in which a service, or a person, is likely to name a country. */
const languages = 'en de fr es it nl pt pl sv da nb fi cs tr ru ja zh'.split(' ');

/** What people write for a country that is not its code of two letters. */
const otherCodes: Readonly<Record<string, string>> = { UK: 'GB', USA: 'US', UAE: 'AE' };

/** Names that the tables do not have. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  CI: ['ivory coast'],
  CV: ['cape verde'],
  GB: ['england', 'scotland', 'wales', 'great britain', 'northern ireland'],
  MM: ['burma'],
  SZ: ['swaziland'],
  TL: ['east timor'],
  VA: ['holy see'],
};

/**
 * Whether a country that was sent, as `US`, may be the one that is shown, as `United States of America`: by their codes, or
 * by their names in one of the languages. Countries have more names than any table: one that no country is known by is taken
 * for a code's where it shares the beginning of a word with the country's own. A code of three letters may be any name's.
 */
export function mayBeCountry(sent: string, shown: string): boolean {
  const [one, other] = [countriesIn(sent), countriesIn(shown)];
  if (one.codes.size > 0 && other.codes.size > 0) return [...one.codes].some((code) => other.codes.has(code));
  if (isThree(one.code) || isThree(other.code)) return plain(sent) !== '' && plain(shown) !== '';
  const [code, name] = one.code === undefined ? [other.code, sent] : [one.code, shown];
  return code !== undefined && sharesWord(code, name);
}

const isThree = (code: string | undefined): boolean => code?.length === 3;

/** Which countries it names: none where no table knows it, as a code of three letters is not known. */
function countriesIn(text: string): { readonly code?: string; readonly codes: ReadonlySet<string> } {
  const typed = text.trim().toUpperCase();
  const code = otherCodes[typed] ?? typed;
  if (/^[A-Z]{3}$/u.test(code)) return { code, codes: new Set() };
  if (/^[A-Z]{2}$/u.test(code) && tables()[0]?.of(code) !== undefined) return { code, codes: new Set([code]) };
  return { codes: codesNamed(text) };
}

const common = new Set('isl rep sta uni dem fed sou nor wes eas sai new the and not non unk del'.split(' '));

/** The first letters of each word that tells something: `Lao Republic` and `Laos` have `lao`. */
const beginningsIn = (text: string): string[] =>
  plain(text)
    .split(' ')
    .map((word) => word.slice(0, 3))
    .filter((word) => word.length === 3 && !common.has(word));

function sharesWord(code: string, name: string): boolean {
  const own = new Set(tables().flatMap((table) => beginningsIn(table.of(code) ?? '')));
  return beginningsIn(name).some((one) => own.has(one));
}

const made: { tables?: readonly Intl.DisplayNames[]; names?: ReadonlyMap<string, ReadonlySet<string>> } = {};

/** Made only where they are asked for. */
const tables = (): readonly Intl.DisplayNames[] => {
  made.tables ??= languages.map((language) => new Intl.DisplayNames([language], { type: 'region', fallback: 'none' }));
  return made.tables;
};

/** Which countries have the name. */
function codesNamed(name: string): ReadonlySet<string> {
  made.names ??= namesOfAll();
  return made.names.get(plain(name)) ?? new Set();
}

function namesOfAll(): ReadonlyMap<string, ReadonlySet<string>> {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const names = new Map<string, Set<string>>();
  const add = (name: string, code: string) => names.set(name, (names.get(name) ?? new Set()).add(code));
  for (const [code, others] of Object.entries(otherNames)) for (const name of others) add(name, code);
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    for (const table of tables()) {
      const name = plain(table.of(code) ?? '');
      if (name !== '') add(name, code);
    }
  }
  return names;
}

const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/^the /u, '');
