import type * as v from 'valibot';
import type { createChangelogEntry } from '../../api/changelog.ts';
import { invalid } from '../answer.ts';
import { eventData } from '../deliveries/events-out.ts';
import type { Row } from '../store/records.ts';
import { find, nextId, owned, put, rowOf, type State } from '../store/state.ts';
import { inUtc } from '../time.ts';
import type { Emit, Handlers } from './handler.ts';
import { pageNewestFirst } from './page.ts';
import { categoryOf } from './person.ts';

type Entry = Row<'changelog'>;
type Fields = Partial<v.InferOutput<typeof createChangelogEntry.body>>;

export const changelog = {
  listChangelog({ state, account, query, now }) {
    const matching = owned(state, 'changelog', account.account_id).filter(
      (entry) => query.status === undefined || entry.status === query.status,
    );
    const { rows, meta } = pageNewestFirst(matching, query);
    return { entries: rows.map((entry) => listed(state, entry, now)), meta };
  },

  getChangelogEntry({ state, params, now }) {
    return { entry: whole(state, rowOf(state, 'changelog', params.id), now) };
  },

  async createChangelogEntry({ state, account, body, now, emit }) {
    const content_html = await toSafeHtml(body.content);
    const { account_id } = account;
    if (isForeignCategory(state, account_id, body)) return foreignCategory;
    const status = body.status ?? 'draft';
    const entry = put(state, 'changelog', {
      id: nextId(state, 'changelog'),
      account_id,
      title: body.title,
      slug: freeSlug(state, account_id, body.title),
      version: body.version ?? null,
      category_id: body.category_id ?? null,
      labels: body.labels ?? [],
      status,
      published_at: status === 'published' ? publishTime(body, now) : null,
      created_at: now,
      updated_at: now,
      content: body.content,
      content_html,
    });
    if (status === 'published') announce(emit, entry);
    return { entry: whole(state, entry, now) };
  },

  async updateChangelogEntry({ state, account, params, body, now, emit }) {
    const html = body.content === undefined ? undefined : await toSafeHtml(body.content);
    const entry = rowOf(state, 'changelog', params.id);
    if (isForeignCategory(state, account.account_id, body)) return foreignCategory;
    const { status = entry.status, published_at: _, ...fields } = body;
    // Whether it could become a draft again is not described (service.md#changelog-4).
    if (entry.status === 'published' && status === 'draft') {
      return invalid({ status: ['cannot go back to draft once the entry is published'] });
    }
    const changed = put(state, 'changelog', {
      ...entry,
      ...fields,
      status,
      content_html: html ?? entry.content_html,
      published_at: publishedAt(entry, status, body, now),
      updated_at: now,
    });
    // Announced once, also when a published entry is edited or published again.
    if (entry.status === 'draft' && status === 'published') announce(emit, changed);
    return { entry: whole(state, changed, now) };
  },
} satisfies Partial<Handlers>;

const foreignCategory = invalid({ category_id: ['is no category of this portal'] });

const isForeignCategory = (state: State, account: number, { category_id }: Fields): boolean =>
  typeof category_id === 'number' && !find(state, 'changelog_categories', account, category_id);

const publishTime = ({ published_at }: Fields, now: string): string => (published_at ? inUtc(published_at) : now);

/** Null for a draft; defaults to now when publishing; of a published entry it changes only when it was sent. */
function publishedAt(entry: Entry, status: Entry['status'], body: Fields, now: string): string | null {
  if (status === 'draft') return null;
  return entry.status === 'published' && body.published_at === undefined ? entry.published_at : publishTime(body, now);
}

function announce(emit: Emit, entry: Entry): void {
  const { account_id, published_at } = entry;
  if (published_at === null) return; // a draft
  emit('changelog.published', account_id, eventData['changelog.published']({ ...entry, published_at }));
}

/** From the title, unique in the portal: `dark-mode`, `dark-mode-2`. */
function freeSlug(state: State, account: number, title: string): string {
  const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const slug = plain.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-|-$/gu, '') || 'entry';
  const taken = new Set(owned(state, 'changelog', account).map((entry) => entry.slug));
  let free = slug;
  for (let n = 2; taken.has(free); n++) free = `${slug}-${n}`;
  return free;
}

/** In lists `content_html` is absent. */
function listed(state: State, entry: Entry, now: string) {
  const { account_id: _, category_id, content: __, content_html: ___, ...fields } = entry;
  return {
    ...fields,
    category: categoryOf(state, 'changelog_categories', category_id),
    // Live only when its time has come (service.md#changelog-3).
    is_live: entry.published_at !== null && Date.parse(entry.published_at) <= Date.parse(now),
  };
}

const whole = (state: State, entry: Entry, now: string) => ({
  ...listed(state, entry, now),
  content_html: entry.content_html,
});

const allowed = {
  allowedTags: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'br', 'hr', 'blockquote', 'pre', 'code', 'ul', 'ol', 'li'],
    ...['strong', 'b', 'em', 'i', 'u', 's', 'del', 'ins', 'mark', 'sub', 'sup', 'a', 'img', 'figure', 'figcaption'],
    ...['table', 'thead', 'tbody', 'tr', 'th', 'td', 'span', 'div'],
  ],
  allowedAttributes: { a: ['href', 'title'], img: ['src', 'alt', 'title', 'width', 'height'] },
  allowedSchemes: ['http', 'https', 'mailto'],
};

/** `content` is plain text, Markdown or HTML (Changelog); what comes out is safe to put into a page. */
export async function toSafeHtml(content: string): Promise<string> {
  const { markdownFor } = await import('../../text/markdown.ts');
  const { default: sanitize } = await import('sanitize-html');
  // HTML inside Markdown is Markdown, so one path serves all three.
  return sanitize(await markdownFor(content).parse(content, { async: true }), allowed).trim();
}
