import type { PhoneNumber } from 'libphonenumber-js/min';
import { type Invent, inventor, replacedWords } from './invented.ts';

export type Replacer = Awaited<ReturnType<typeof replacer>>;

/** A word is looked at once, from its beginning: one may be a picture of a megabyte. */
const inText =
  /(?<![^\s@<>()[\]"',;:])[^\s@<>()[\]"',;:]+@[^\s@<>()[\]"',;:]+\.[\p{L}\p{N}-]+|https?:\/\/[^\s<>"']+|\+\d[\d\s().-]{5,18}\d/giu;
const kept =
  /<\/?(?:a|b|blockquote|br|code|div|em|h[1-6]|hr|i|li|ol|p|pre|s|span|strong|table|tbody|td|th|thead|tr|u|ul)\b[^<>]*>|&(?:amp|lt|gt|quot|nbsp|#39);/giu;

/** What stands in the place of each kind of value: the same for the same, of the same shape. */
export async function replacer(key: Uint8Array, taken: ReadonlySet<string>) {
  const { default: parsePhone } = await import('libphonenumber-js/min');
  const invent = inventor(key, taken);
  const words = (value: string) => replacedWords(invent, value);
  /** Below `.example`, which nobody has. Its own ending counts, so that two hosts stay two. */
  const host = (value: string) => `${words(value.replaceAll('.', '-'))}.example`;

  const phones = new Map<string, string>();
  const given = new Set<string>();
  const isTaken = (number: string): boolean => given.has(number) || taken.has(number.slice(1));
  const email = (value: string): string => {
    const at = value.lastIndexOf('@');
    return at < 0 ? words(value) : `${words(value.slice(0, at))}@${host(value.slice(at + 1).trim())}`;
  };
  const phone = (value: string): string => {
    const parsed = parsePhone(value);
    if (!parsed?.isValid()) return words(value);
    const known = phones.get(parsed.number);
    const other = known ?? otherPhone(parsed, { invent, parsePhone, isTaken });
    if (other === undefined) return words(value);
    phones.set(parsed.number, other);
    given.add(other);
    return value.trim() === parsed.number ? other : (parsePhone(other)?.formatInternational() ?? other);
  };
  const website = (value: string): string => {
    const [, scheme = '', name = '', rest = ''] = /^(https?:\/\/)?([^/?#:\s]*)(.*)$/isu.exec(value.trim()) ?? [];
    return name === '' ? words(value) : `${scheme}${host(name)}${words(rest)}`;
  };
  /** Words, with the addresses, links and phones among them. */
  const text = (value: string): string =>
    around(value, inText, words, (found) => {
      if (found.includes('@') && !/^https?:/iu.test(found)) return email(found);
      return found.startsWith('+') ? phone(found) : website(found);
    });
  /** A value of metadata: texts and numbers, however deep. */
  const any = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value === 'number') return otherNumber(value, invent);
    if (Array.isArray(value)) return value.map(any);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, held]) => [keyName(name, words), any(held)]));
  };
  return {
    text,
    email,
    phone,
    website,
    html: (value: string): string => around(value, kept, text, (found) => bareTag(found, website)),
    fileName(value: string): string {
      const [ending = ''] = /\.[a-z\d]{1,5}$/iu.exec(value) ?? [];
      return `${words(value.slice(0, value.length - ending.length))}${ending}`;
    },
    any,
  };
}

/** What matches goes one way, what stands between goes the other. */
function around(value: string, pattern: RegExp, between: (text: string) => string, found: (text: string) => string) {
  let made = '';
  let at = 0;
  for (const match of value.matchAll(pattern)) {
    made += between(value.slice(at, match.index)) + found(match[0]);
    at = match.index + match[0].length;
  }
  return made + between(value.slice(at));
}

/** A tag without what may be written in it, except where it leads. */
function bareTag(tag: string, website: (value: string) => string): string {
  if (tag.startsWith('&')) return tag;
  const name = /^<\/?[a-z\d]+/iu.exec(tag)?.[0] ?? '';
  const href = /\shref="([^"]*)"/iu.exec(tag)?.[1];
  return href === undefined ? `${name}>` : `${name} href="${website(href)}">`;
}

/** Names of fields stay, for a program asks for them; one that looks like a value does not. */
const keyName = (name: string, words: (value: string) => string): string =>
  /^[A-Za-z][\w.-]{0,39}$/u.test(name) && !/\d{5}/u.test(name) ? name : words(name);

function otherNumber(value: number, invent: Invent): number {
  const other = Number(String(Math.abs(value)).replace(/^\d+/u, (digits) => invent(digits).slice(0, digits.length)));
  return Number.isFinite(other) ? Math.sign(value) * other : 0;
}

type Making = {
  readonly invent: Invent;
  readonly parsePhone: (number: string) => PhoneNumber | undefined;
  readonly isTaken: (number: string) => boolean;
};

const triesAtMost = 60;

/** A number of the same country, valid there, with the same beginning where that can be. */
function otherPhone({ nationalNumber, countryCallingCode, country, number }: PhoneNumber, making: Making) {
  const { invent, parsePhone, isTaken } = making;
  for (let kept = Math.min(3, nationalNumber.length - 4); kept >= 0; kept--) {
    let digits = nationalNumber.slice(kept);
    for (let n = 0; n < triesAtMost; n++) {
      // Each try goes on from the last: no two numbers become one.
      digits = invent(digits).slice(-(nationalNumber.length - kept));
      const other = `+${countryCallingCode}${nationalNumber.slice(0, kept)}${digits}`;
      const parsed = parsePhone(other);
      if (parsed?.isValid() && parsed.country === country && other !== number && !isTaken(other)) return other;
    }
  }
  return undefined;
}
