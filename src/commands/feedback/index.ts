import { getRoadmap, listFeedback } from '../../api/feedback.ts';
import { fitted } from '../../api/fit.ts';
import type { Output } from '../../api/operation.ts';
import { type Command, defineCommand, type TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { call, connect } from '../../http/call/call.ts';
import { list } from '../../http/call/pages.ts';
import { rowForPipe } from '../../output/cells.ts';
import type { Post } from './post.ts';

const posts = fromOperation('list', listFeedback, {
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
});

/** The statuses are the account's own, so a wrong one cannot be refused: an empty answer says which there are. */
const listPosts: Command = {
  ...posts,
  async run(ctx, given) {
    const view = await posts.run(ctx, given);
    const { status } = given.flags;
    if (typeof status !== 'string' || given.settings.quiet || view.data.shape !== 'list') return view;
    const records = orElse(view.data.records, () => tellStatuses(ctx, given.settings, status));
    return { ...view, data: { ...view.data, records } };
  },
};

/** The records; where there are none, `tell` is run. */
async function* orElse(records: Iterable<unknown> | AsyncIterable<unknown>, tell: () => Promise<void>) {
  let isEmpty = true;
  for await (const record of records) {
    isEmpty = false;
    yield record;
  }
  if (isEmpty) await tell();
}

async function tellStatuses(ctx: Context, settings: Settings, status: string): Promise<void> {
  const { tellPostStatuses } = await import('../../command/post-statuses.ts');
  await tellPostStatuses(await connect(ctx, settings), status);
}

/** The service shows posts in its list only, so its pages are read until the post is there. */
const getPost = defineCommand({
  name: 'get',
  summary: 'Show one feedback post with its text',
  onlyReads: () => true,
  details: 'The service has no single post to ask for: the list is read, page by page, until it is there.',
  args: { id: param.requiredId('Id of the feedback post', 'feedback') },
  flags: {
    q: { ...param.text('Part of the title or the text: fewer pages are read'), name: 'search', aliases: ['q'] },
  },
  examples: ['svc feedback get 1', "svc feedback get 1 --jq '.content'"],
  async run(ctx, { args: { id }, flags, settings }) {
    const service = await connect(ctx, settings);
    const query = flags.q === undefined ? {} : { q: flags.q };
    for await (const record of list(service, listFeedback, { query }, { all: true }).records) {
      if (record.id !== id) continue;
      const post = record as Post;
      return {
        data: { shape: 'record', record },
        read: true,
        human: async (terminal) => (await import('./post.ts')).postPage(post, terminal),
      };
    }
    const where = flags.q === undefined ? '' : ' among those that fit the search';
    throw new Failure('not-found', `There is no feedback post ${id}${where}.`, { hint: 'Run: svc feedback list' });
  },
});

export const feedback: TopGroup = {
  commands: [listPosts, getPost],
};

const get = defineCommand({
  name: 'get',
  summary: getRoadmap.summary,
  onlyReads: () => true,
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
  `${rowForPipe(slug, id, vote_count, title)}\n`;

export const roadmap: TopGroup = { commands: [get] };
