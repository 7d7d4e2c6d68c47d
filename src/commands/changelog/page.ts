import { styleOfStatus, timeForPeople } from '../../output/cells.ts';
import type { Terminal } from '../../output/view.ts';
import type { Entry } from '../../release/plan.ts';
import { readingWidth } from '../../text/measure.ts';
import { readHtml } from '../../text/reading.ts';
import { textIn } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { wrap } from '../../text/width.ts';
import { stateOf } from './state.ts';

/** An entry as its readers see it: the title, what it is, and the text without its tags. */
export function entryPage(entry: Entry, terminal: Terminal): string {
  const { paint, now } = terminal;
  const width = readingWidth(terminal.width);
  const state = stateOf(entry);
  const style = styleOfStatus(state);
  const facts = [
    `#${entry.id}`,
    entry.version,
    entry.category?.name,
    ...entry.labels,
    entry.published_at && `${state === 'scheduled' ? 'for ' : ''}${timeForPeople(entry.published_at, now)}`,
  ].filter((fact) => Boolean(fact));
  const about = wrap(sanitize([state, ...facts].join(' · ')), width).join('\n');
  const title = wrap(sanitize(entry.title), width).map((line) => paint('bold', line));
  const blocks = readHtml(textIn(entry.content_html) ?? '').map((block) => shownBlock(block, width, terminal));
  const head = style ? about.replace(state, () => paint(style, state)) : about;
  // Items of a list stay together.
  const text = blocks.reduce((whole, { lines, isItem }, at) => {
    const between = isItem && blocks[at - 1]?.isItem ? '\n' : '\n\n';
    return whole === '' ? lines : whole + between + lines;
  }, '');
  return [title.join('\n'), head, '', text].join('\n').trimEnd();
}

/** What the reading says in Markdown is shown as a page would: a heading and strong words bold. */
function shownBlock(block: string, width: number, { paint }: Terminal) {
  const isItem = /^\s*(?:-|\d+\.) /u.test(block);
  const safe = sanitize(block, { keepNewlines: true });
  if (safe.startsWith('```\n')) {
    const code = safe.split('\n').slice(1, -1);
    return { lines: wrap(code.map((line) => `    ${line}`).join('\n'), width).join('\n'), isItem };
  }
  const heading = /^#{1,6} (.*)$/su.exec(safe)?.[1];
  if (heading !== undefined) {
    return {
      lines: wrap(plain(heading), width)
        .map((line) => paint('bold', line))
        .join('\n'),
      isItem,
    };
  }
  const marker = /^\s*(?:-|\d+\.) /u.exec(safe)?.[0] ?? '';
  const rest = plain(safe.slice(marker.length));
  const lines = wrap(rest, Math.max(1, width - marker.length));
  return { lines: lines.map((line, at) => (at === 0 ? marker : ' '.repeat(marker.length)) + line).join('\n'), isItem };
}

/** Without the marks of strong words and code; a link keeps its address. */
const plain = (text: string): string =>
  text
    .replaceAll(/!\[([^[\]]*)\]\(([^)]{0,2000})\)/gu, '$1 ($2)')
    .replaceAll(/\[([^[\]]*)\]\(([^)]{0,2000})\)/gu, '$1 ($2)')
    .replaceAll(/\*\*([^*\n]+)\*\*/gu, '$1')
    .replaceAll(/(?<![\w*])\*([^*\n]+)\*(?![\w*])/gu, '$1')
    .replaceAll(/`([^`\n]+)`/gu, '$1');
