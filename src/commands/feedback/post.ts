import type { listFeedback } from '../../api/feedback.ts';
import type { Output } from '../../api/operation.ts';
import { timeForPeople } from '../../output/cells.ts';
import type { Terminal } from '../../output/view.ts';
import { readingWidth } from '../../text/measure.ts';
import { sanitize } from '../../text/sanitize.ts';
import { wrap } from '../../text/width.ts';

export type Post = Output<typeof listFeedback>['posts'][number];

/** A post as its readers see it: the title, what it is, and the whole text. */
export function postPage(post: Post, terminal: Terminal): string {
  const { paint, now } = terminal;
  const width = readingWidth(terminal.width);
  const facts = [
    `#${post.id}`,
    post.status,
    post.category?.name,
    `${post.vote_count} ${post.vote_count === 1 ? 'vote' : 'votes'}`,
    `${post.comments_count} ${post.comments_count === 1 ? 'comment' : 'comments'}`,
    post.on_roadmap && 'on the roadmap',
    post.created_at && `from ${timeForPeople(post.created_at, now)}`,
  ].filter(Boolean);
  const title = wrap(sanitize(post.title), width).map((line) => paint('bold', line));
  const text = wrap(sanitize(post.content, { keepNewlines: true }), width);
  return [...title, ...wrap(sanitize(facts.join(' · ')), width), '', ...text].join('\n').trimEnd();
}
