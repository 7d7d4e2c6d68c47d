import type { Row } from '../store/records.ts';
import { owned, type State } from '../store/state.ts';
import type { Handlers } from './handler.ts';
import { pageInOrder } from './page.ts';
import { categoryOf } from './person.ts';

type Post = Row<'feedback'>;

export const feedback = {
  listFeedback({ state, account, query }) {
    const words = query.q?.toLowerCase();
    const matching = owned(state, 'feedback', account.account_id).filter(
      (post) =>
        (query.status === undefined || post.status === query.status) &&
        (query.category_id === undefined || post.category_id === query.category_id) &&
        (!words || post.title.toLowerCase().includes(words) || post.content.toLowerCase().includes(words)),
    );
    const { rows, meta } = pageInOrder(mostVotedFirst(matching), query);
    return { posts: rows.map((post) => shown(state, post)), meta };
  },

  getRoadmap({ state, account }) {
    const posts = mostVotedFirst(owned(state, 'feedback', account.account_id).filter((post) => post.on_roadmap));
    const statuses = owned(state, 'roadmap_columns', account.account_id).map(({ slug, name, color }) => ({
      slug,
      name,
      color,
      posts: posts.filter((post) => post.status === slug).map((post) => shown(state, post)),
    }));
    return { statuses };
  },
} satisfies Partial<Handlers>;

const mostVotedFirst = (posts: Post[]): Post[] => posts.sort((a, b) => b.vote_count - a.vote_count || b.id - a.id);

/** Author names and emails are never returned: the sandbox does not even keep them. */
function shown(state: State, post: Post) {
  const { account_id: _, category_id, ...fields } = post;
  return { ...fields, category: categoryOf(state, 'feedback_categories', category_id) };
}
