import { type Token, walkTokens } from 'marked';
import type { Context } from '../context.ts';
import { orElse } from '../errors.ts';
import { firstOf } from '../text/first-of.ts';
import { markdownFor } from '../text/markdown.ts';
import { sanitize } from '../text/sanitize.ts';

/**
 * Says which files a text for the portal links to or shows, that lie beside it and that nobody finds there. Of a text that the
 * service may take: one of megabytes is refused before it is read as Markdown.
 */
export function tellOfFilesBeside(ctx: Pick<Context, 'notice'>, text: string): void {
  const files = filesBeside(text).map((file) => sanitize(file));
  if (files.length > 0)
    ctx.notice(`The portal has no ${firstOf(files, 3)}: a link or an image there needs its whole address (https://…).`);
}

/** Where the links and images of a Markdown text lead that name neither a site nor a place on the same one; each once. */
export function filesBeside(text: string): string[] {
  const found = new Set<string>();
  const take = (href: string): unknown => isBeside(href) && found.add(href);
  const look = (token: Token): void => {
    if (token.type === 'link' || token.type === 'image') take(token.href);
    if (token.type !== 'html') return;
    for (const [, , href = ''] of token.raw.matchAll(/<(?:a|img)\s[^<>]*?\b(?:href|src)=(["'])([^"'<>]*)\1/giu))
      take(href);
  };
  // A text that cannot be read as Markdown is judged elsewhere.
  orElse(() => walkTokens(markdownFor(text).lexer(text), look), []);
  return [...found];
}

const isBeside = (href: string): boolean => href !== '' && !/^(?:[a-z][a-z\d+.-]*:|[/#?])/iu.test(href);
