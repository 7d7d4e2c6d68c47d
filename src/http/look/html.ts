import { ownOf } from '../../text/record.ts';

const latin =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';

/** Those that programs write for what people type; any other stays as it is. */
const characters: Readonly<Record<string, string>> = {
  ...Object.fromEntries(latin.split(' ').map((name, at) => [name, String.fromCodePoint(0xa0 + at)])),
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", euro: '€', trade: '™', bull: '•', hellip: '…' },
  ...{ ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„' },
};

const entity = '&(?:[a-z][a-z\\d]*|#x[\\da-f]{1,6}|#\\d{1,7});';
const entities = new RegExp(entity, 'giu');
const ofText = new RegExp(`${entity}|[&<>"']`, 'giu');
const ofTag = new RegExp(`${entity}|&`, 'giu');

function character(spelling: string): string {
  const name = spelling.slice(1, -1);
  if (!name.startsWith('#')) return ownOf(characters, name) ?? spelling;
  const point = /^#x/iu.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return point <= 0x10_ff_ff ? String.fromCodePoint(point) : spelling;
}

/** Each character as itself. */
export const decoded = (html: string): string => html.replaceAll(entities, character);

const escapes: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
};

/** The HTML that shows a text as it was typed. */
export const escaped = (text: string): string => text.replaceAll(/[&<>"']/gu, (one) => escapes[one] ?? one);

/** With a line end where one or more were, and no other white space than single spaces. */
export const lined = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/\s+/gu, (space) => (/[\n\r]/u.test(space) ? '\n' : ' '))
    .trim();

/** The same HTML for all that differs in nothing but the spelling of characters, and white space. */
export const spelled = (html: string): string =>
  lined(
    html
      .split(/(<\/?[a-z][^<>]*>)/iu)
      .map((part, at) => (at % 2 ? spelledTag(part) : part.replaceAll(ofText, respelled)))
      .join('')
      .replaceAll(around, '$1'),
  );

const blocks = 'blockquote|body|br|div|h[1-6]|hr|html|li|ol|p|pre|table|tbody|td|th|tr|ul';
const around = new RegExp(`\\s*(</?(?:${blocks})(?: [^<>]*)?>)\\s*`, 'gu');

const respelled = (one: string): string => escaped(decoded(one));

const spelledTag = (tag: string): string =>
  tag
    .replaceAll(ofTag, respelled)
    .replace(/^<\/?[a-z\d]+/iu, (name) => name.toLowerCase())
    .replace(/\s*\/?>$/u, '>');

/** What a text is put into so that its lines stay lines, with nothing that shows. */
const wrapper = /<\/?(?:body|br|div|html|p|pre)(?: [^<>]*)?>/gu;
const plainer = /<\/?(?:font|span)(?: [^<>]*)?>/gu;
const link = /<a [^<>]*?href="(?<to>[^"<>]*)"[^<>]*>(?<shown>[^<>]*)<\/a>/gu;

/** What is `spelled` without its paragraphs, of which the lines stay; an address that was made a link is text again. */
export const unwrapped = (html: string): string =>
  html
    .replaceAll(link, (whole, to: string, shown: string) => (addressIn(to) === addressIn(shown) ? shown : whole))
    .replaceAll(plainer, '')
    .replaceAll(wrapper, '\n')
    .replaceAll(/\s*\n\s*/gu, '\n')
    .trim();

/** What is left without tags and white space. */
export const lettersOf = (html: string): string =>
  decoded(html.replaceAll(/<\/?[a-z][^<>]*>/giu, '')).replaceAll(/\s+/gu, '');

const addressIn = (text: string): string => text.replace(/^(?:mailto|tel):/u, '').replace(/\/$/u, '');

/** Whether what is `spelled` is `wanted`, as it is or in paragraphs. It has a line end only where that has one. */
export const isLaidOut = (html: string, wanted: string): boolean =>
  [html, unwrapped(html)].some(
    (text) =>
      flat(text) === flat(wanted) && [...text.matchAll(/\n/gu)].every(({ index }) => wanted.charAt(index) === '\n'),
  );

const flat = (text: string): string => text.replaceAll('\n', ' ');
