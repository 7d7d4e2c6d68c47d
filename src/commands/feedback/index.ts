import { getRoadmap, listFeedback } from '../../api/feedback.ts';
import { fitted } from '../../api/fit.ts';
import type { Output } from '../../api/operation.ts';
import { defineCommand, type Group } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { call, connect } from '../../http/call.ts';
import { cellForPipe } from '../../output/cells.ts';

export const feedback: Group = {
  name: 'feedback',
  summary: 'Posts on the feedback board',
  commands: [
    fromOperation('list', listFeedback, {
      columns: [
        { path: 'id', header: 'ID', rank: 1 },
        { path: 'vote_count', header: 'Votes', rank: 3 },
        { path: 'title', header: 'Title', rank: 2 },
        { path: 'status', header: 'Status', rank: 4 },
        { path: 'category.name', header: 'Category', rank: 5 },
        { path: 'comments_count', header: 'Comments', rank: 6 },
        { path: 'on_roadmap', header: 'On roadmap', rank: 7 },
      ],
      examples: ['svc feedback list', 'svc feedback list --search export --json'],
    }),
  ],
};

const get = defineCommand({
  name: 'get',
  summary: getRoadmap.summary,
  args: {},
  flags: {},
  examples: ['svc roadmap get', "svc roadmap get --jq '.[].posts[].title'"],
  async run(ctx, { settings }) {
    const answer = await call(await connect(ctx, settings), getRoadmap, {});
    const { statuses: shown } = fitted(getRoadmap.response, answer) as Output<typeof getRoadmap>;
    return {
      data: { shape: 'list', records: answer.statuses, columns: ['slug', 'name', 'color'] },
      read: true,
      human: async (terminal) => (await import('../../output/board.ts')).roadmapBoard(shown, terminal),
      // A column alone says little to a script: a row for each post.
      plain: () => shown.flatMap(({ slug, posts }) => posts.map((post) => rowOf(slug, post))).join(''),
    };
  },
});

const rowOf = (slug: string, { id, vote_count, title }: { id: number; vote_count: number; title: string }): string =>
  `${[slug, id, vote_count, cellForPipe(title)].join('\t')}\n`;

export const roadmap: Group = { name: 'roadmap', summary: 'The public roadmap', commands: [get] };
