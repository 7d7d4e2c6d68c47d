/** Markup that is safe to send. Only `html` makes it, so a text that nobody escaped cannot get into a page. */
export type Html = { readonly markup: string };

type Part = Html | string | number | undefined | false | readonly Part[];

/** A template whose texts are escaped: `<p>${subject}</p>`. Lists are joined; undefined and false leave nothing. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  markup: strings.reduce((page, string, at) => page + markupOf(parts[at - 1]) + string),
});

function markupOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (typeof part === 'object') return 'markup' in part ? part.markup : part.map(markupOf).join('');
  return String(part).replaceAll(/[&<>"']/gu, (character) => `&#${character.charCodeAt(0)};`);
}
