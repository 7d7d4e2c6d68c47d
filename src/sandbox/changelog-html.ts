const allowed = {
  allowedTags: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code', 'ul', 'ol', 'li'],
    ...['strong', 'b', 'em', 'i', 'u', 's', 'del', 'ins', 'mark', 'sub', 'sup', 'a', 'img', 'figure', 'figcaption'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'span', 'div'],
  ],
  allowedAttributes: { a: ['href', 'title'], img: ['src', 'alt', 'title', 'width', 'height'] },
  allowedSchemes: ['http', 'https', 'mailto'],
};

/** `content` is plain text, Markdown or HTML (Changelog); what comes out is safe to put into a page. */
export async function toSafeHtml(content: string): Promise<string> {
  const { marked } = await import('marked');
  const { default: sanitize } = await import('sanitize-html');
  // HTML inside Markdown is Markdown, so one path serves all three.
  return sanitize(await marked.parse(content, { async: true }), allowed).trim();
}
