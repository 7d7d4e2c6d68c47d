// A list that changes its order while its pages are read.
import { expect, test } from 'vitest';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';
import { json } from './engines.ts';

type Post = { id: number };

const posts = (count: number, first = 1): Post[] => Array.from({ length: count }, (_, at) => ({ id: first + at }));

/** A service whose feedback is `list`; `before` is called with the number of the request for a page of it. */
function listing(list: Post[], before: (request: number, list: Post[]) => void) {
  const world = sandboxWorld({ rateLimit: 'off' });
  let requests = 0;
  const exchange: typeof world.exchange = async (asked) => {
    const answer = await world.exchange(asked);
    const url = new URL(asked.url);
    if (url.pathname !== '/feedback' || !('status' in answer)) return answer;
    const size = Number(url.searchParams.get('per_page'));
    const page = Number(url.searchParams.get('page'));
    if (size === 100) before(++requests, list);
    const [sample] = (JSON.parse(answer.body) as { posts: object[] }).posts;
    const some = list.slice((page - 1) * size, page * size).map((post) => ({ ...sample, ...post }));
    const meta = { current_page: page, last_page: Math.ceil(list.length / size), per_page: size, total: list.length };
    return { ...answer, body: JSON.stringify({ posts: some, meta }) };
  };
  return { ...world, exchange };
}

/** One gets votes, one is deleted, one is new: there are as many as before. */
const swap = (at: number) => (list: Post[]) => {
  const [moved] = list.splice(at, 1);
  list.unshift(moved as Post);
  list.splice(5, 1);
  list.push({ id: 1000 + at });
};

test.each([1, 2])(
  'a post that moves past the reader of page %i is in the copy once that is complete',
  { tags: ['long'] },
  async (page) => {
    const list = posts(250);
    const world = listing(list, (request) => {
      if (request === page + 1) swap(239)(list);
    });
    const { kinds } = (await json(world, 'mirror pull --only feedback')) as { kinds: object[] };
    expect(kinds).toEqual([expect.objectContaining({ complete: true, doubt: null })]);
    const rows = (await json(world, ['mirror', 'sql', 'SELECT id FROM feedback WHERE gone_at IS NULL'])) as Post[];
    expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual(list.map(({ id }) => id).sort((a, b) => a - b));
  },
);

test('a list that changes in each reading is not whole', async () => {
  const list = posts(250);
  const world = listing(list, (request) => {
    if (request % 3 === 2) swap(200 + request)(list);
  });
  const ran = await svc(world, ['mirror', 'pull', '--only', 'feedback', '--json']);
  expect([ran.exitCode, JSON.parse(ran.stdout).kinds[0].complete]).toEqual([8, false]);
});
