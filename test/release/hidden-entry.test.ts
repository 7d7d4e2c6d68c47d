import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HttpResponse } from '../../src/context.ts';
import { hidesAnother } from '../../src/release/slugs.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

// A list of entries that comes from a store, and does not show the one that a release has made.

type Entry = { readonly id: number; readonly version: string; readonly status: string };

function setUp() {
  const world = sandboxWorld({ rateLimit: 'off' });
  const file = join(world.folder, 'CHANGELOG.md');
  writeFileSync(file, '# Changelog\n\n## 9.1.0\n\n- Exports are faster\n');
  const release = (where: SandboxWorld, argv: readonly string[] = [], version = '9.1.0') =>
    svc(where, ['changelog', 'release', version, '--from', file, '--json', ...argv]);
  const published = async () => {
    const { changelog } = (await world.control('GET', 'state')) as { changelog: Entry[] };
    return changelog.filter(({ version, status }) => version === '9.1.0' && status === 'published').map(({ id }) => id);
  };
  return { world, release, published };
}

/** The list leaves out what `isHidden` says, so many times. */
function stale(world: SandboxWorld, isHidden: (entry: Entry) => boolean, times = Number.POSITIVE_INFINITY) {
  let left = times;
  const exchange: typeof world.exchange = async (request) => {
    const answer = (await world.exchange(request)) as HttpResponse;
    if (request.method !== 'GET' || !/\/changelog(?:\?|$)/u.test(request.url) || left-- <= 0) return answer;
    const { entries, meta } = JSON.parse(answer.body) as { entries: Entry[]; meta: { total: number } };
    const shown = entries.filter((one) => !isHidden(one));
    // It counts what it shows: a list that contradicts its own count is not believed at all.
    const total = meta.total - (entries.length - shown.length);
    return { ...answer, body: JSON.stringify({ entries: shown, meta: { ...meta, total } }) };
  };
  return { ...world, exchange };
}

const idIn = (stdout: string): number => (JSON.parse(stdout) as { entry: Entry }).entry.id;

test('the entry of an earlier run on this machine is read by its id: one entry, one event', async () => {
  const { world, release, published } = setUp();
  const id = idIn((await release(world)).stdout);
  const again = await release(stale(world, (entry) => entry.id === id));
  expect(again.exitCode, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ action: 'unchanged', entry: { id } });
  expect(await published()).toEqual([id]);
});

test.each([
  ['9.1.0', 'web@9.1.0'],
  ['web@9.1.0', '9.1.0'],
])('that of a run for %s is also known to one for %s', async (first, second) => {
  const { world, release, published } = setUp();
  const id = idIn((await release(world, [], first)).stdout);
  const again = await release(
    stale(world, (entry) => entry.id === id),
    [],
    second,
  );
  expect(again.exitCode, again.stderr).toBe(0);
  expect(JSON.parse(again.stdout)).toMatchObject({ action: 'unchanged', entry: { id } });
  expect(await published()).toEqual([id]);
});

test('another machine publishes no second entry: its draft stays one, exit 9, however often it runs', async () => {
  const { world, release, published } = setUp();
  const id = idIn((await release(world)).stdout);
  const other = { ...stale(world, (entry) => entry.id === id), folder: join(world.folder, 'other') };
  for (let run = 0; run < 2; run++) {
    const ran = await release(other);
    expect(ran, ran.stderr).toMatchObject({ exitCode: 9, stdout: '' });
    expect(ran.stderr).toContain(`publish this one: svc changelog publish ${id + 1}`);
  }
  expect(await published()).toEqual([id]);
});

test('another machine goes on with the published entry once the list shows it', async () => {
  const { world, release, published } = setUp();
  const id = idIn((await release(world)).stdout);
  const other = { ...stale(world, (entry) => entry.id === id, 3), folder: join(world.folder, 'other') };
  const ran = await release(other);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(JSON.parse(ran.stdout)).toMatchObject({ action: 'unchanged', entry: { id }, doubled_ids: [id + 1] });
  expect(await published()).toEqual([id]);
});

test('an entry with the title of another version that the list shows is published', async () => {
  const { world, release, published } = setUp();
  await svc(world, ['changelog', 'create', '--title', 'Fixes', '--content', 'x', '--version', '9.0.0']);
  const ran = await release(world, ['--title', 'Fixes']);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(await published()).toEqual([idIn(ran.stdout)]);
});

test('an entry that the service does not have any more is made again', async () => {
  const { world, release, published } = setUp();
  await release(world);
  await world.control('POST', 'reset', {});
  const ran = await release(world);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(await published()).toEqual([idIn(ran.stdout)]);
});

test('--dry-run and --check know the entry too, and write nothing', async () => {
  const { world, release } = setUp();
  const id = idIn((await release(world)).stdout);
  const hiding = stale(world, (entry) => entry.id === id);
  expect((await release(hiding, ['--check'])).exitCode).toBe(0);
  expect(JSON.parse((await release(hiding, ['--dry-run'])).stdout)).toMatchObject({ action: 'unchanged' });
});

const named = (slug: string, id = 7, title = 'Release 9.1.0') => ({ id, title, slug });
const shown = (...slugs: readonly string[]) => slugs.map((slug, at) => named(slug, 100 + at));

test.each([
  ['release-9-1-0-2', [], true],
  ['release-9-1-0-1', [], true],
  ['release-910-2', [], true],
  ['release-9-1-0-2', ['release-9-1-0'], false],
  ['release-9-1-0-3', ['release-9-1-0'], true],
  ['release-9-1-0-3', ['release-9-1-0', 'release-9-1-0-2'], false],
  ['release-9-1-0', [], false],
  ['release-910', [], false],
  // Of another kind: the id, a mark by chance, a day.
  ['release-9-1-0-7', [], false],
  ['release-9-1-0-x2', [], false],
  ['release-9-1-0-48213', [], false],
  ['another-2', [], false],
])('the slug %s beside %j shows that an entry is hidden: %s', (slug, others, isHidden) => {
  expect(hidesAnother(named(slug), [named(slug), ...shown(...others)])).toBe(isHidden);
});
