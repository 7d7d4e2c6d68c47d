import type { HttpResponse, Lost } from '../../src/context.ts';
import type { SandboxWorld } from '../sandbox-world.ts';

type Fields = Record<string, unknown>;

/** What becomes of an answer's body; a number is a status. */
export type Fault = (body: Fields, url: URL) => unknown;

/** The world whose service answers some requests otherwise: `fault` says how, by the request. */
export const faulty = (world: SandboxWorld, choose: (url: URL) => Fault | undefined): SandboxWorld => ({
  ...world,
  async exchange(asked): Promise<HttpResponse | Lost> {
    const answer = await world.exchange(asked);
    const url = new URL(asked.url);
    const fault = asked.method === 'GET' ? choose(url) : undefined;
    if (!fault || !('status' in answer) || answer.status !== 200) return answer;
    const body = fault(JSON.parse(answer.body) as Fields, url);
    if (typeof body === 'number') return { ...answer, status: body, body: '{"message":"Not found."}' };
    return { ...answer, body: JSON.stringify(body) };
  },
});

const keyOf = (body: Fields): string => Object.keys(body).find((key) => Array.isArray(body[key])) ?? '';
const listIn = (body: Fields): Fields[] => (body[keyOf(body)] ?? []) as Fields[];
const metaIn = (body: Fields) => (body.meta ?? {}) as { current_page: number; last_page: number; total: number };

/** Ways in which a page of a list is not the page that was asked for. */
export const faults = {
  empty: (body) => ({ ...body, [keyOf(body)]: [] }),
  'without meta': ({ meta: _, ...body }) => body,
  cut: (body) => ({ ...body, [keyOf(body)]: listIn(body).slice(0, Math.floor(listIn(body).length / 2)) }),
  'of another page': (body) => ({ ...body, meta: { ...metaIn(body), current_page: metaIn(body).current_page + 1 } }),
  shrunk: (body) => {
    const { current_page: page } = metaIn(body);
    return { ...body, meta: { current_page: page, last_page: page, total: page * 100 } };
  },
  'called the last': (body) => ({ ...body, meta: { ...metaIn(body), last_page: metaIn(body).current_page } }),
} satisfies Record<string, Fault>;

/** The same for the first so many requests that `applies` takes. */
export function times(count: number, applies: (url: URL) => boolean, fault: Fault) {
  let left = count;
  return (url: URL): Fault | undefined => (applies(url) && left-- > 0 ? fault : undefined);
}

export const pageOf =
  (path: string, page: number) =>
  (url: URL): boolean =>
    url.pathname === path &&
    url.searchParams.get('page') === String(page) &&
    url.searchParams.get('per_page') === '100';

/** A service in which a record was deleted: lists leave it out and count without it, and its address answers 404. */
export const without =
  (path: string, id: number, idField = 'id') =>
  (url: URL): Fault | undefined => {
    if (url.pathname === `${path}/${id}`) return () => 404;
    if (url.pathname !== path) return undefined;
    // A part of the list need not have had it.
    const isPart = url.searchParams.has('updated_since') || url.searchParams.has('status');
    return (body) => {
      const key = keyOf(body);
      const records = listIn(body).filter((record) => record[idField] !== id);
      const meta = metaIn(body);
      const left = isPart ? listIn(body).length - records.length : 1;
      return { ...body, [key]: records, ...(body.meta ? { meta: { ...meta, total: meta.total - left } } : {}) };
    };
  };
