import { anything, filled, id, invalid, like, meta, type Scene, type Step, time } from '../scene.ts';

const item = (fields: object) => ({
  title: 'Dark mode',
  slug: like(/dark-mode/u, 'dark-mode'),
  version: null,
  category: null,
  labels: [],
  status: 'draft',
  is_live: false,
  published_at: null,
  created_at: time(),
  updated_at: time(),
  ...fields,
});

const entry = (fields: object) => ({
  ...item({}),
  content_html: like(/It is here\./u, '<p>It is here.</p>'),
  ...fields,
});

const live = { status: 'published', is_live: true, published_at: time() };

const draft: Step = {
  send: 'POST /changelog',
  body: { title: 'Dark mode', content: 'It is here.' },
  status: 201,
  answer: { entry: entry({ id: id('entry', 9) }) },
};

const change = (body: object, fields: object): Step => ({
  send: 'PATCH /changelog/<entry>',
  body,
  status: 200,
  answer: { entry: entry({ id: '<entry>', ...fields }) },
});

export const changelog: readonly Scene[] = [
  {
    title: 'an entry is a draft unless told otherwise, and lists leave its content out',
    seed: 'empty',
    steps: [
      draft,
      { send: 'GET /changelog/<entry>', status: 200, answer: { entry: entry({ id: '<entry>' }) } },
      { send: 'GET /changelog', status: 200, answer: { entries: [item({ id: '<entry>' })], meta: meta(1) } },
    ],
  },
  {
    title: 'an entry may be published at once, with version and labels',
    seed: 'empty',
    steps: [
      {
        send: 'POST /changelog',
        body: {
          title: 'Dark mode',
          content: '**It is here.**',
          version: '1.2.0',
          labels: ['new', '😀'],
          status: 'published',
        },
        status: 201,
        answer: {
          entry: entry({
            id: id('entry', 9),
            version: '1.2.0',
            labels: ['new', '😀'],
            ...live,
            content_html: like(/<strong>It is here\.<\/strong>/u, '<p><strong>It is here.</strong></p>'),
          }),
        },
      },
    ],
  },
  {
    title: 'a draft is published once and may be edited afterwards',
    seed: 'empty',
    steps: [
      draft,
      change({ status: 'published' }, live),
      change({ version: '1.2.0' }, { version: '1.2.0', ...live }),
      change({ title: 'Darker mode' }, { title: 'Darker mode', slug: filled('dark-mode'), version: '1.2.0', ...live }),
    ],
  },
  {
    title: 'an entry whose time has not come is published but not live',
    seed: 'empty',
    steps: [
      draft,
      change(
        { status: 'published', published_at: '2999-01-01T00:00:00Z' },
        { status: 'published', is_live: false, published_at: time('2999-01-01T00:00:00Z') },
      ),
    ],
  },
  {
    title: 'entries are filtered by draft or published',
    seed: 'empty',
    steps: [
      draft,
      { send: 'GET /changelog?status=published', status: 200, answer: { entries: [], meta: meta(0) } },
      {
        send: 'GET /changelog?status=draft',
        status: 200,
        answer: { entries: [item({ id: '<entry>' })], meta: meta(1) },
      },
    ],
  },
  {
    title: 'an empty update of an entry is refused',
    seed: 'empty',
    steps: [
      draft,
      {
        send: 'PATCH /changelog/<entry>',
        body: {},
        status: 422,
        answer: { message: filled('Nothing to change.'), errors: anything({}) },
      },
    ],
  },
  {
    title: 'a category that is none of this portal is refused',
    seed: 'empty',
    steps: [
      {
        send: 'POST /changelog',
        body: { title: 'Dark mode', content: 'It is here.', category_id: 99_999 },
        status: 422,
        answer: invalid('category_id', 'There is no such category.'),
      },
    ],
  },
];
