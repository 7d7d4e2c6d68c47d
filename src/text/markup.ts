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

type PageParts = {
  readonly title: string;
  /** What else stands in the head; made by us. */
  readonly head?: string;
  readonly style: string;
  readonly body: Html;
};

/** A page that stands alone: its style is in it, light and dark as its reader has it, and nothing is loaded. */
export const pageOf = ({ title, head = '', style, body }: PageParts): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${{ markup: head }}<title>${title}</title>
<style>${{ markup: style }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.markup;
