import * as v from 'valibot';
import { Category } from './changelog.ts';
import { described, id, pageOf, pageQuery, when, whole } from './fields.ts';
import { defineOperation } from './operation.ts';

/** Author names and emails are never returned. */
export const FeedbackPost = v.looseObject({
  id,
  title: v.string(),
  content: described('What the customer wrote', v.string()),
  status: described('Board status slug', v.string()),
  category: Category,
  vote_count: whole,
  comments_count: whole,
  on_roadmap: v.boolean(),
  created_at: when,
  updated_at: when,
});

export const RoadmapColumn = v.looseObject({
  slug: v.string(),
  name: v.string(),
  color: v.string(),
  posts: v.array(FeedbackPost),
});

export const listFeedback = defineOperation({
  id: 'listFeedback',
  method: 'GET',
  path: '/feedback',
  summary: 'List feedback posts, most voted first',
  command: ['feedback', 'list'],
  resource: 'feedback',
  scope: 'feedback:read',
  module: 'feedback_board',
  query: v.object({
    ...pageQuery,
    status: v.optional(described('Board status slug', v.string())),
    category_id: v.optional(id),
    q: v.optional(described('Matches title or text', v.string())),
  }),
  response: pageOf('posts', FeedbackPost),
  answer: { shape: 'list', key: 'posts', paged: true, sortedBy: 'votes' },
});

export const getRoadmap = defineOperation({
  id: 'getRoadmap',
  method: 'GET',
  path: '/roadmap',
  summary: 'Show the roadmap, column by column',
  command: ['roadmap', 'get'],
  resource: 'roadmap_columns',
  scope: 'feedback:read',
  module: 'roadmap',
  response: v.looseObject({ statuses: described('Columns in display order', v.array(RoadmapColumn)) }),
  answer: { shape: 'list', key: 'statuses', paged: false, sortedBy: 'board' },
});
