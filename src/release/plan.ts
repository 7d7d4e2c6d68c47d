import type * as v from 'valibot';
import type { ChangelogEntry, ChangelogItem, createChangelogEntry, updateChangelogEntry } from '../api/changelog.ts';
import { byAge } from '../text/by-age.ts';
import { bareVersion, versionKey } from './version.ts';

export type Item = v.InferOutput<typeof ChangelogItem>;
export type Entry = v.InferOutput<typeof ChangelogEntry>;
export type NewBody = v.InferOutput<typeof createChangelogEntry.body>;
export type ChangeBody = v.InferOutput<typeof updateChangelogEntry.body>;

/** What the portal is to agree with. Fields that are absent are left as somebody edited them by hand. */
export type Wanted = {
  readonly version: string;
  /** The package that was asked for by name, where the heading of its version names none. */
  readonly package?: string;
  readonly content: string;
  readonly title?: string;
  readonly labels?: readonly string[];
  readonly categoryId?: number;
  readonly publishedAt?: string;
  readonly draft: boolean;
  /** Of a changelog: its released versions of the same package. `isChosen`: somebody, or the tag of a job, has named this one. */
  readonly beside?: { readonly file: string; readonly versions: readonly string[]; readonly isChosen: boolean };
};

export type Action = 'created' | 'published' | 'updated' | 'unchanged';

export type Plan = {
  readonly action: Action;
  /** Only what differs; undefined where nothing is to be sent. */
  readonly body?: ChangeBody;
};

export type Named = Pick<Wanted, 'version' | 'package'>;

/** What tells one release from others: `web@1.2.0`, also where the entry holds 1.2.0. */
export const fullName = (wanted: Named): string =>
  wanted.package === undefined ? wanted.version : `${wanted.package}@${wanted.version}`;

/** The package that the title of an entry names, as svc writes it; undefined where somebody gave it another title. */
export function nameOf({ title, version }: Item): string | undefined {
  const [, name, its = ''] = /^Release (.+)@(.+)$/u.exec(title.trim()) ?? [];
  return versionKey(its) === versionKey(version ?? '') ? name : undefined;
}

/** Packages are told apart as versions are, whatever their letters. */
const keyOf = (name: string | undefined): string | undefined => name?.toLowerCase();

/** An entry without a version is an announcement: of none, not of an empty one. */
function entriesOf(version: string, entries: readonly Item[]): Item[] {
  const key = versionKey(version);
  return key === '' ? [] : entries.filter((entry) => versionKey(entry.version ?? '') === key);
}

/** The packages to choose from, where none was asked for and the version has entries of several. */
export function packagesAmong(wanted: Named, entries: readonly Item[]): readonly string[] {
  if (wanted.package !== undefined) return [];
  const names = new Map(
    entriesOf(wanted.version, entries)
      .map(nameOf)
      .map((name) => [keyOf(name), name ?? '']),
  );
  return names.size > 1 && !names.has(undefined) ? [...names.values()].sort() : [];
}

const older = byAge();

/** Entries of one version: the one to work on, and the ids of those that should not be there. */
export function entryOf(
  wanted: Named,
  entries: readonly Item[],
): { entry: Item | undefined; doubled: readonly number[] } {
  const { version } = wanted;
  const own = keyOf(wanted.package);
  // What names no package may be of this one: made by a run without its name, or given a title by hand.
  const found = entriesOf(version, entries).filter(
    (entry) => own === undefined || [own, undefined].includes(keyOf(nameOf(entry))),
  );
  // Every machine must choose the same one, whatever the order in which it got them: the one with the version as svc
  // writes it, for another may be an announcement; then the published, then the oldest. Of several that are published,
  // which nobody can choose any more, the one that names its package as this run does.
  const isOther = (entry: Item) => Number(bareVersion(entry.version ?? '') !== bareVersion(version));
  const isDraft = (entry: Item) => Number(entry.status !== 'published');
  const isOdd = (entry: Item) => (isDraft(entry) ? 0 : Number(keyOf(nameOf(entry)) !== own));
  const [entry, ...twins] = found.sort(
    (a, b) => isOther(a) - isOther(b) || isDraft(a) - isDraft(b) || isOdd(a) - isOdd(b) || older(a, b),
  );
  return { entry, doubled: twins.map((twin) => twin.id) };
}

/** The whole entry, as it is created. */
export function newBody(wanted: Wanted): NewBody {
  const { version, content, title, labels, categoryId, publishedAt, draft } = wanted;
  return {
    title: title ?? `Release ${fullName(wanted)}`,
    content,
    version,
    ...(labels && { labels: [...labels] }),
    ...(categoryId !== undefined && { category_id: categoryId }),
    status: draft ? 'draft' : 'published',
    ...(publishedAt !== undefined && !draft && { published_at: publishedAt }),
  };
}

/** What has to change for the entry to agree; `isShown`: a reader already sees the wanted content. */
export function planChange(wanted: Wanted, entry: Entry, isShown: boolean): Plan {
  const publishes = entry.status === 'draft' && !wanted.draft;
  const body: ChangeBody = {
    ...(!isShown && { content: wanted.content }),
    ...(wanted.title !== undefined && wanted.title.trim() !== entry.title.trim() && { title: wanted.title }),
    ...(wanted.labels && !sameLabels(wanted.labels, entry.labels) && { labels: [...wanted.labels] }),
    ...(wanted.categoryId !== undefined &&
      wanted.categoryId !== entry.category?.id && { category_id: wanted.categoryId }),
    ...(wanted.publishedAt !== undefined &&
      !sameSecond(wanted.publishedAt, entry.published_at) && { published_at: wanted.publishedAt }),
    ...(publishes && { status: 'published' as const }),
  };
  if (Object.keys(body).length === 0) return { action: 'unchanged' };
  return { action: publishes ? 'published' : 'updated', body };
}

/** What a reader sees of an entry. */
export const readOf = ({ title, content_html: content, labels, category }: Entry) => ({
  title,
  content,
  labels,
  category,
});

/** Whether a reader sees the same entry after it as before. */
export const publishesAlone = (body: ChangeBody): boolean =>
  Object.keys(body).every((name) => name === 'status' || name === 'published_at');

const sameLabels = (a: readonly string[], b: readonly string[]): boolean =>
  JSON.stringify([...new Set(a)].sort()) === JSON.stringify([...new Set(b)].sort());

const sameSecond = (a: string, b: string | null): boolean =>
  b !== null && Math.floor(Date.parse(a) / 1000) === Math.floor(Date.parse(b) / 1000);

/** Published, with its time still to come (changelog entry, `is_live`). */
export const isScheduled = (entry: Pick<Item, 'status' | 'is_live'>): boolean =>
  entry.status === 'published' && !entry.is_live;
