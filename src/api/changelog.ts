import * as v from 'valibot';
import { described, id, pageOf, pageQuery, text, time, when } from './fields.ts';
import { defineOperation } from './operation.ts';

const changelogStatuses = ['draft', 'published'] as const;

export const Category = v.nullable(v.looseObject({ id, name: v.string() }));

const entryFields = {
  id,
  title: v.string(),
  slug: v.string(),
  version: v.nullable(v.string()),
  category: Category,
  labels: v.array(v.string()),
  status: v.picklist(changelogStatuses),
  is_live: described('Published, and its publish time has passed', v.boolean()),
  published_at: v.nullable(when),
  created_at: when,
  updated_at: when,
};

/** As in lists: without content_html. */
export const ChangelogItem = v.looseObject(entryFields);

export const ChangelogEntry = v.looseObject({
  ...entryFields,
  content_html: described('Sanitized HTML', v.string()),
});

const answer = { shape: 'record', key: 'entry' } as const;
const response = v.looseObject({ entry: ChangelogEntry });

export const listChangelog = defineOperation({
  id: 'listChangelog',
  method: 'GET',
  path: '/changelog',
  summary: 'List changelog entries',
  command: ['changelog', 'list'],
  resource: 'changelog',
  scope: 'changelog:read',
  module: 'changelog',
  query: v.object({ ...pageQuery, status: v.optional(v.picklist(changelogStatuses, 'must be draft or published')) }),
  response: pageOf('entries', ChangelogItem),
  answer: { shape: 'list', key: 'entries', paged: true, sortedBy: 'not said' },
});

export const getChangelogEntry = defineOperation({
  id: 'getChangelogEntry',
  method: 'GET',
  path: '/changelog/{id}',
  summary: 'Show a changelog entry',
  command: ['changelog', 'get'],
  resource: 'changelog',
  ids: { id: 'changelog' },
  scope: 'changelog:read',
  module: 'changelog',
  response,
  answer,
});

const title = described('3 to 255 characters', text(3, 255));
const content = described('Plain text, Markdown or HTML', text(1, 60_000));

const settings = {
  version: v.optional(v.nullable(text(0, 50))),
  category_id: v.optional(v.nullable(described('A category of this portal', id))),
  labels: v.optional(
    described(
      'Up to 10 labels of 40 characters',
      v.pipe(v.array(text(1, 40)), v.maxLength(10, 'may hold at most 10 labels')),
    ),
  ),
  status: v.optional(v.picklist(changelogStatuses, 'must be draft or published')),
  published_at: v.optional(v.nullable(described('Defaults to now when publishing', time))),
};

export const createChangelogEntry = defineOperation({
  id: 'createChangelogEntry',
  method: 'POST',
  path: '/changelog',
  summary: 'Create a changelog entry, as a draft unless published; subscribers are never emailed',
  rules:
    'The slug is made from the title. Without a status, or as a draft, no event fires. As published, changelog.published fires, published_at defaults to now, and subscribers are not emailed.',
  refuses: 'The category is none of this portal.',
  command: ['changelog', 'create'],
  resource: 'changelog',
  scope: 'changelog:write',
  module: 'changelog',
  body: v.object({ title, content, ...settings }),
  status: 201,
  response,
  answer,
  safety: 'verify',
  effect: { of: 'The entry', done: 'created', lookHint: 'Look with: svc changelog list' },
  asMade: { status: { is: 'draft' } }, // service.md#changelog-1
  reaches: 'public',
  makes: ['entry', 'id'],
  grant: 'write',
});

export const updateChangelogEntry = defineOperation({
  id: 'updateChangelogEntry',
  method: 'PATCH',
  path: '/changelog/{id}',
  summary: 'Change a changelog entry; only the fields given change',
  rules:
    'A draft that becomes published fires changelog.published once; published_at defaults to now. A published entry may be edited, and the event does not fire again.',
  refuses:
    'The body changes nothing, or the category is none of this portal. Moving a published entry back to draft is not shown; the sandbox refuses it.',
  command: ['changelog', 'update'],
  resource: 'changelog',
  ids: { id: 'changelog' },
  scope: 'changelog:write',
  module: 'changelog',
  body: v.pipe(
    v.object({ title: v.optional(title), content: v.optional(content), ...settings }),
    v.check((body) => Object.values(body).some((value) => value !== undefined), 'must change at least one field'),
    v.metadata({ minProperties: 1 }),
  ),
  response,
  answer,
  safety: 'repeatable', // changelog.published fires once, however often the entry is published
  rewrites: { field: 'content', shownAs: 'content_html', reading: getChangelogEntry },
  effect: { of: 'The entry', done: 'changed', lookHint: 'Look at it with: svc changelog get ID' },
  reaches: 'public',
  grant: 'write',
});
