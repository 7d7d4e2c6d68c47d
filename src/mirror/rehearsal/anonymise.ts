import type { Fields } from '../../text/record.ts';
import { wordsIn } from './invented.ts';
import { type Replacer, replacer } from './replacer.ts';
import type { Seed } from './seed.ts';

type Way = keyof Replacer | 'texts' | 'people' | 'files';

const messages: Ways = { sender_name: 'text', body: 'text', attachments: 'files' };

type Ways = Readonly<Record<string, Way>>;

/** What is replaced, and how. Ids, times, states and countries stay; so do the names of fields. */
const ways: Readonly<Record<string, Ways>> = {
  accounts: { name: 'text' },
  contacts: {
    name: 'text',
    last_name: 'text',
    email: 'email',
    phone: 'phone',
    company: 'text',
    website: 'website',
    tags: 'texts',
    metadata: 'any',
  },
  lists: { name: 'text', target_industry: 'text' },
  calls: { from: 'phone', to: 'phone' },
  tickets: { subject: 'text', description: 'text', messages: 'people' },
  conversations: { subject: 'text', messages: 'people' },
  changelog: { title: 'text', slug: 'text', labels: 'texts', content: 'html', content_html: 'html' },
  changelog_categories: { name: 'text' },
  feedback: { title: 'text', content: 'text' },
  feedback_categories: { name: 'text' },
};

/** The seed with nothing in it that tells who somebody is or what they wrote. `key`: random bytes of this run. */
export async function anonymised(seed: Seed, key: Uint8Array): Promise<Seed> {
  const by = await replacer(key, wordsIn(textsIn(seed)));
  return Object.fromEntries(
    Object.entries(seed).map(([kind, rows]) => [kind, rows.map((row) => replaced(row, ways[kind] ?? {}, by))]),
  );
}

function replaced(row: Fields, how: Ways, by: Replacer): Fields {
  return Object.fromEntries(
    Object.entries(row).map(([field, value]) => {
      const way = how[field];
      return [field, way === undefined ? value : replacedValue(value, way, by)];
    }),
  );
}

function replacedValue(value: unknown, way: Way, by: Replacer): unknown {
  if (way === 'any') return by.any(value);
  if (Array.isArray(value)) {
    return value.map((each) => {
      if (way === 'people') return replaced(each, messages, by);
      if (way === 'files') return replaced(each, { name: 'fileName' }, by);
      return replacedValue(each, 'text', by);
    });
  }
  if (typeof value !== 'string' || way === 'texts' || way === 'people' || way === 'files') return value;
  return by[way](value);
}

/** Every text of the seed. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const held of Object.values(value)) yield* textsIn(held);
}
