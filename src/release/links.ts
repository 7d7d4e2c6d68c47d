import { walkTokens } from 'marked';
import { markdownFor } from '../text/markdown.ts';

export type Definitions = Readonly<Record<string, { readonly href: string | null; readonly title?: string | null }>>;

/** The section's text without its link definitions, followed by those of the whole file that it uses. */
export function standingAlone(section: string, definitions: Definitions): string {
  const body = markdownFor(section)
    .lexer(section)
    .map((token) => (token.type === 'def' ? '' : token.raw))
    .join('')
    .replace(/^(?:[ \t]*\n)+/u, '')
    .trimEnd();
  const used = [...labelsIn(body, definitions)].map((label) => definition(label, definitions));
  return used.length > 0 ? `${body}\n\n${used.join('\n')}` : body;
}

/** Of `[text][label]`, `[label][]` and `[label]`, those that are links by the definitions. */
function labelsIn(body: string, definitions: Definitions): Set<string> {
  const all = Object.keys(definitions).map((label) => definition(label, definitions));
  const labels = new Set<string>();
  const whole = [body, '', ...all].join('\n');
  walkTokens(markdownFor(whole).lexer(whole), (token) => {
    if ((token.type !== 'link' && token.type !== 'image') || !token.raw.endsWith(']')) return;
    const last = /\[([^[\]]*)\]$/u.exec(token.raw)?.[1];
    const label = (last || token.raw.replace(/^!?\[/u, '').replace(/\](?:\[\])?$/u, ''))
      .toLowerCase()
      .replaceAll(/\s+/gu, ' ');
    if (label in definitions) labels.add(label);
  });
  return labels;
}

function definition(label: string, definitions: Definitions): string {
  const { href, title } = definitions[label] ?? {};
  const target = /^[^\s<>]+$/u.test(href ?? '') ? href : `<${href ?? ''}>`;
  return `[${label}]: ${target}${title ? ` "${title.replaceAll('"', '\\"')}"` : ''}`;
}
