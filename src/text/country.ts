/** The languages in which a service, or a person, is likely to name a country. */
const languages = 'en de fr es it nl pt pl sv da nb fi cs tr ru ja zh'.split(' ');

/** What people write for a country that is not its code of two letters. */
const otherCodes: Readonly<Record<string, string>> = { UK: 'GB', USA: 'US', UAE: 'AE' };

/**
 * Whether a country that was sent, as `US`, may be the one that is shown, as `United States of America`: by their codes, or
 * by their names in one of the languages. Countries have more names than any table, so only a name that another country
 * has is another one than a code's.
 */
export function mayBeCountry(sent: string, shown: string): boolean {
  const [one, other] = [countriesIn(sent), countriesIn(shown)];
  const isUnknown = one.codes.size === 0 || other.codes.size === 0;
  if (isUnknown) return one.isCode !== other.isCode && sent.trim() !== '' && shown.trim() !== '';
  return [...one.codes].some((code) => other.codes.has(code));
}

/** What it names: none where no table knows it, as a code of three letters is not known. */
function countriesIn(text: string): { readonly isCode: boolean; readonly codes: ReadonlySet<string> } {
  const typed = text.trim().toUpperCase();
  const code = otherCodes[typed] ?? typed;
  if (/^[A-Z]{3}$/u.test(code)) return { isCode: true, codes: new Set() };
  const isCode = /^[A-Z]{2}$/u.test(code) && tables()[0]?.of(code) !== undefined;
  return { isCode, codes: isCode ? new Set([code]) : codesNamed(text) };
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
  for (const code of letters.flatMap((first) => letters.map((second) => first + second))) {
    for (const table of tables()) {
      const name = plain(table.of(code) ?? '');
      if (name !== '') names.set(name, (names.get(name) ?? new Set()).add(code));
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
