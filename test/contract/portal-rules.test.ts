import { describe, expect, test } from 'vitest';
import { account, start } from './sandbox.ts';

// Changelog, feedback, roadmap and branding, sentence by sentence.

describe('changelog', () => {
  const entry = { title: 'Dark mode', content: 'It is here.' };

  test('published_at defaults to the moment of publishing, and later edits keep it', async () => {
    const world = start();
    const { id } = (await world.post('/changelog', entry)).entry;
    await world.later(60);
    const published = (await world.patch(`/changelog/${id}`, { status: 'published' })).entry;
    expect(published.published_at).toBe('2026-11-20T09:01:00.000Z');
    await world.later(60);
    const edited = (await world.patch(`/changelog/${id}`, { content: 'Now with colours.', status: 'published' })).entry;
    expect(edited).toMatchObject({ published_at: published.published_at, is_live: true, status: 'published' });
    expect(edited.content_html).toContain('Now with colours.');
  });

  test('an entry goes live when its time comes', async () => {
    const world = start();
    const published_at = '2026-11-20T09:10:00Z';
    const { id } = (await world.post('/changelog', { ...entry, status: 'published', published_at })).entry;
    const isLive = async () => (await world.get(`/changelog/${id}`)).entry.is_live;
    expect(await isLive()).toBe(false);
    await world.later(599);
    expect(await isLive()).toBe(false);
    await world.later(1);
    expect(await isLive()).toBe(true);
  });

  test('slugs come from the title and are unique in the portal', async () => {
    const world = start();
    const slugs: string[] = [];
    for (const title of ['Dark mode!', 'Dark mode', 'Dark  Mode', '😀😀😀', '日本語', '---']) {
      slugs.push((await world.post('/changelog', { ...entry, title })).entry.slug);
    }
    expect(slugs[0]).toBe('dark-mode');
    expect(new Set(slugs).size).toBe(slugs.length);
    for (const slug of slugs) expect(slug).toMatch(/^\S+$/u);
    // The other account's portal is another one.
    const other = await account(world.subject, 'key_globex').post('/changelog', { ...entry, title: 'Dark mode' });
    expect(other.entry.slug).toBe('dark-mode');
  });

  test.for([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<a href="javascript:alert(1)">x</a>',
    '<iframe src="https://evil.example.com"></iframe>',
    '<p onclick="alert(1)">x</p>',
    '[x](javascript:alert(1))',
    '<svg><script>alert(1)</script></svg>',
    '<a href="JaVaScRiPt&#58;alert(1)">x</a>',
    '<style>body{display:none}</style>',
    '<scr<script>ipt>alert(1)</scr</script>ipt>',
  ])('content is sanitized: %s', async (content) => {
    const { entry: made } = await start().post('/changelog', { title: 'Safe', content });
    expect(made.content_html).not.toMatch(/<script|<iframe|<style|<[^>]*\son\w+\s*=|href="?\s*javascript/iu);
  });

  test.for([
    ['plain text', 'It is here.', /It is here\./u],
    ['Markdown', '# New\n\n- one\n- **two**', /<li>.*<strong>two<\/strong>/su],
    ['HTML', '<h2>New</h2><p>It is <em>here</em>.</p>', /<p>It is <em>here<\/em>\.<\/p>/u],
    ['a link', '[docs](https://docs.example.com)', /<a [^>]*href="https:\/\/docs\.example\.com"/u],
    ['less-than', '1 < 2 & 3 > 2', /1 &lt; 2 &amp; 3 &gt; 2/u],
  ] as const)('content may be %s', async ([, content, html]) => {
    const { entry: made } = await start().post('/changelog', { title: 'Shown', content });
    expect(made.content_html).toMatch(html);
  });

  test('a category of the portal is shown with its name, and null takes it away', async () => {
    const world = start('demo');
    const entries = (await world.get('/changelog?per_page=100')).entries;
    const { category } = entries.find((e: { category: object | null }) => e.category);
    const { id } = (await world.post('/changelog', { ...entry, category_id: category.id })).entry;
    expect((await world.get(`/changelog/${id}`)).entry.category).toEqual(category);
    expect((await world.patch(`/changelog/${id}`, { category_id: null })).entry.category).toBeNull();
  });

  test('only sent fields change', async () => {
    const world = start();
    const made = (await world.post('/changelog', { ...entry, version: '1.0', labels: ['a'] })).entry;
    const after = (await world.patch(`/changelog/${made.id}`, { labels: ['b'] })).entry;
    expect(after).toEqual({ ...made, labels: ['b'], updated_at: after.updated_at });
  });
});

describe('feedback and roadmap', () => {
  test('posts come most voted first, are filtered and name no author', async () => {
    const world = start('demo');
    const { posts, meta } = await world.get('/feedback?per_page=100');
    const votes = posts.map((p: { vote_count: number }) => p.vote_count);
    expect(votes).toEqual(votes.toSorted((a: number, b: number) => b - a));
    expect(meta.total).toBe(posts.length);
    expect(JSON.stringify(posts)).not.toMatch(/author|@/u);
    const [{ status, category, title }] = posts.filter((p: { category: object | null }) => p.category);
    const total = async (query: string) => (await world.get(`/feedback?per_page=100&${query}`)).posts;
    expect(await total(`status=${status}`)).toEqual(posts.filter((p: { status: string }) => p.status === status));
    expect(await total(`category_id=${category.id}`)).toEqual(
      posts.filter((p: { category: { id: number } | null }) => p.category?.id === category.id),
    );
    expect(await total(`q=${encodeURIComponent(title.toUpperCase())}`)).toEqual(
      expect.arrayContaining([expect.objectContaining({ title })]),
    );
  });

  test('a roadmap column holds the posts that are on the roadmap', async () => {
    const world = start('demo');
    const { statuses } = await world.get('/roadmap');
    const shown = statuses.flatMap((column: { posts: { id: number; on_roadmap: boolean }[] }) => column.posts);
    expect(shown.every((post: { on_roadmap: boolean }) => post.on_roadmap)).toBe(true);
    expect(shown.length).toBeGreaterThan(0);
    for (const { slug, posts } of statuses) {
      expect(posts.every((post: { status: string }) => post.status === slug)).toBe(true);
    }
  });
});

describe('branding', () => {
  test('the sent fields are named as updated, and only they change', async () => {
    const world = start();
    await world.put('/platform/branding', { primary_color: '#102030', from_name: 'Acme' });
    const { updated } = await world.put('/platform/branding', { from_name: 'Acme Inc', accent_color: '#aabbcc' });
    expect(updated.toSorted()).toEqual(['accent_color', 'from_name']);
    const [acme] = (await world.state()).accounts;
    expect(acme.branding).toMatchObject({ primary_color: '#102030', from_name: 'Acme Inc', accent_color: '#aabbcc' });
  });
});
