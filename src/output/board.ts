import { counted } from '../text/number.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, cut, sideBySide, wrap } from '../text/width.ts';
import type { Terminal } from './view.ts';

type Post = {
  readonly title: string;
  readonly vote_count?: number;
  readonly comments_count?: number;
};

type RoadmapColumn = { readonly name: string; readonly posts: readonly Post[] };

/** Narrower than this, titles break at every word; then the columns go below each other. */
const narrowest = 22;
const widest = 44;
const gap = 3;

/** The roadmap as the portal shows it: columns side by side where the terminal is wide enough. */
export function roadmapBoard(columns: readonly RoadmapColumn[], terminal: Terminal): string {
  if (columns.length === 0) return 'The roadmap has no columns.\n';
  const room = Math.min(widest, Math.floor((terminal.width - gap * (columns.length - 1)) / columns.length));
  if (room < narrowest) {
    const width = Math.max(1, Math.min(terminal.width, 2 * widest));
    return `${columns.map((column) => lines(column, width, terminal).join('\n')).join('\n\n')}\n`;
  }
  const shown = columns.map((column) => lines(column, room, terminal));
  return `${sideBySide(shown, room, gap).join('\n')}\n`;
}

function lines({ name, posts }: RoadmapColumn, width: number, { paint }: Terminal): string[] {
  const count = ` ${posts.length}`;
  const heading = cut(sanitize(name), width - count.length);
  const cards = posts.flatMap((post) => [
    '',
    ...wrap(sanitize(post.title), width),
    paint('dim', cut(votes(post), width)),
  ]);
  return [
    paint('bold', heading) + paint('dim', count),
    paint('dim', '─'.repeat(Math.min(width, cells(heading) + count.length))),
    ...(posts.length === 0 ? [paint('dim', 'nothing yet')] : cards.slice(1)),
  ];
}

const votes = ({ vote_count: up = 0, comments_count: comments = 0 }: Post): string =>
  [`▲ ${up}`, counted(comments, 'comment')].join(' · ');
