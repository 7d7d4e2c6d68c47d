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

/*
 * The forms of a text that are compared, each made of the one before it:
 *
 * - `plain` (agree.ts): one space for any white space, so without lines. What is no HTML is compared so.
 * - `lined`: the same, but a line end stays one. What was sent keeps its lines so.
 * - `spelled`: HTML with one spelling for all that shows the same in the same places: characters, tags, addresses.
 * - `unwrapped`: what is `spelled` without its paragraphs, of which the lines stay. Two pages are compared so, and a page
 *   with a text.
 * - `bare` (agree.ts): `unwrapped` until nothing is left of it, without lines. Texts are alike by it that one page may be.
 */

/** With a line end where one or more were, and no other white space than single spaces. */
export const lined = (text: string): string =>
  text
    .normalize('NFC')
    .replaceAll(/\s+/gu, (space) => (/[\n\r]/u.test(space) ? '\n' : ' '))
    .trim();

/** The same HTML for all that differs only in white space, the spelling of characters, what no reader sees, and links made of addresses. */
export const spelled = (html: string): string =>
  lined(
    html
      .split(/(<\/?[a-z][^<>]*>)/iu)
      .map((part, at) => (at % 2 ? spelledTag(part) : part.replaceAll(ofText, respelled)))
      .join('')
      .replaceAll(plainer, '')
      .replaceAll(link, (whole, to: string, shown: string) => (leadsTo(decoded(to), decoded(shown)) ? shown : whole))
      .replaceAll(around, '$1'),
  );

const blocks = 'blockquote|body|br|div|h[1-6]|hr|html|li|ol|p|pre|table|tbody|td|th|tr|ul';
const around = new RegExp(`(?:(?<!\\s)\\s+)?(</?(?:${blocks})(?: [^<>]*)?>)\\s*`, 'gu');

const respelled = (one: string): string => escaped(decoded(one));

/** Only in quotes: what a person typed may hold `a<b and c=5>d`, which is no tag. */
const attribute = /(?<!\s)\s+([a-z][\w:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/giu;
/** What shows nothing and leads nowhere: a service may drop it, or add its own. */
const idle =
  /^(?:align|bgcolor|border|class|color|dir|face|height|id|lang|rel|role|size|style|target|valign|width|(?:aria|data)-[\w-]+|on[a-z]+)$/u;

const spelledTag = (tag: string): string =>
  tag
    .replaceAll(attribute, (_, name: string, double?: string, single?: string) =>
      idle.test(name.toLowerCase()) ? '' : ` ${name.toLowerCase()}="${respelled(double ?? single ?? '')}"`,
    )
    .replaceAll(ofTag, respelled)
    .replace(/^<\/?[a-z\d]+/iu, (name) => name.toLowerCase())
    .replace(/(?<!\s)\s*\/?>$/u, '>');

const plainer = /<\/?(?:font|span)(?: [^<>]*)?>/gu;
const link = /<a href="([^"<>]*)"[^<>]*>([^<>]*)<\/a>/gu;

/** Whether a link leads to the address that it shows, as services make them: with the scheme that people leave out. */
function leadsTo(to: string, shown: string): boolean {
  if (/^tel:/iu.test(to)) return /^[\d\s()+./-]+$/u.test(shown) && dialled(to) === dialled(shown);
  if (/^mailto:/iu.test(to))
    return to.replace(/^mailto:/iu, '').toLowerCase() === shown.replace(/^mailto:/iu, '').toLowerCase();
  // What is shown without its scheme and with an @ is an address of mail.
  const schemes = shown.includes('@') ? [''] : ['', 'http://', 'https://'];
  return schemes.some((scheme) => placeOf(to) === placeOf(`${scheme}${shown}`));
}

const dialled = (phone: string): string => phone.replaceAll(/[^\d+]/gu, '');

const placeOf = (address: string): string => (URL.canParse(address) ? new URL(address).href : address);

/** What a text is put into so that its lines stay lines, with nothing that shows. */
const wrapper = /<\/?(?:body|br|div|html|p|pre)(?: [^<>]*)?>/gu;

/** What is `spelled` without its paragraphs, of which the lines stay. */
export const unwrapped = (html: string): string =>
  html
    .replaceAll(wrapper, '\n')
    .replaceAll(/(?<!\s)\s*\n\s*/gu, '\n')
    .trim();

/** What is left without tags and white space. */
export const lettersOf = (html: string): string =>
  decoded(html.replaceAll(/<\/?[a-z][^<>]*>/giu, '')).replaceAll(/\s+/gu, '');

/** Whether a page that is `unwrapped` shows `wanted`. It has a line end only where that has one. */
export const isLaidOut = (page: string, wanted: string): boolean =>
  flat(page) === flat(wanted) && [...page.matchAll(/\n/gu)].every(({ index }) => wanted.charAt(index) === '\n');

const flat = (text: string): string => text.replaceAll('\n', ' ');
