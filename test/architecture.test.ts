import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
  .map((file) => file.replaceAll('\\', '/'));

type Import = { readonly from: string; readonly to: string; readonly typeOnly: boolean; readonly lazy: boolean };

/** Every import of the source, static and dynamic; own files relative to src. */
const imports: readonly Import[] = sources.flatMap((from) => {
  const text = readFileSync(join(root, 'src', from), 'utf8');
  const pattern =
    /^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)'|\bimport\('([^']+)'\)|getBuiltinModule\('([^']+)'\)/gmu;
  return [...text.matchAll(pattern)].map((match) => {
    const to = match[2] ?? match[3] ?? match[4] ?? '';
    const own = to.startsWith('.') ? relative(join(root, 'src'), join(root, 'src', dirname(from), to)) : to;
    return { from, to: own.replaceAll('\\', '/'), typeOnly: match[1] !== undefined, lazy: match[2] === undefined };
  });
});

/** The floors, from the top down (CONTRIBUTING.md). A folder imports only folders below it: types too, and lazily too. */
const floors = [
  'main',
  'node',
  'program',
  'commands',
  'mcp',
  'inbox',
  'sandbox',
  'catchup',
  'answers',
  'mirror',
  'release',
  'sync',
  'bulk',
  'batch',
  'tabular',
  'webhooks',
  'login',
  'sends',
  'command',
  'screen',
  'output',
  'http',
  'audit',
  'auth',
  'retry',
  'config',
  'derive',
  'disk',
  'database',
  'api',
  'promise',
  'text',
  'ground',
];

const roomOf = (file: string): string => {
  if (file.includes('/')) return file.split('/')[0] ?? '';
  return file === 'main.ts' ? 'main' : 'ground';
};

const own = imports.filter(({ to }) => !to.startsWith('node:') && !to.startsWith('..') && to.endsWith('.ts'));

test('a folder imports only folders below it', () => {
  const floorOf = (file: string) => floors.indexOf(roomOf(file));
  const upward = own
    .filter(({ from, to }) => roomOf(from) !== roomOf(to) && floorOf(from) >= floorOf(to))
    .map(({ from, to }) => `${from} -> ${to}`);
  expect(upward).toEqual([]);
  expect(new Set(sources.map(roomOf))).toEqual(new Set(floors));
});

/** The rooms of a floor, from the top down. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  disk: ['place', 'draft', 'log', 'lock', 'file'],
  http: ['call', 'send', 'look', 'exchange'],
  mirror: ['rehearsal', 'query', 'pull', 'store', 'postgres', 'sqlite', 'tables'],
  bulk: ['command', 'report', 'run', 'history', 'journal', 'rows'],
  webhooks: ['serve', 'listen', 'inspector', 'subscriptions', 'deliver', 'receive', 'store', 'event'],
};

test.each(Object.entries(rooms))('a room of %s imports only rooms below it', (floor, order) => {
  const inside = own.filter(({ from, to }) => roomOf(from) === floor && roomOf(to) === floor);
  const inner = (file: string) => file.split('/')[1] ?? '';
  const upward = inside
    .filter(({ from, to }) => inner(from) !== inner(to) && order.indexOf(inner(from)) >= order.indexOf(inner(to)))
    .map(({ from, to }) => `${from} -> ${to}`);
  expect(upward).toEqual([]);
  expect(new Set(sources.filter((file) => roomOf(file) === floor).map(inner))).toEqual(new Set(order));
});

test('the table of CONTRIBUTING.md has every floor and room, in this order', () => {
  const written = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `([^`]+)` \| (.+) \|$/gmu);
  const rows = [...written].map(([, name = '', about = '']) => ({
    files: name.split(' ').filter((file) => file.endsWith('.ts')),
    floor: name === 'main.ts' ? 'main' : name.endsWith('/') ? name.slice(0, -1) : 'ground',
    // What stands in brackets is inside of a room.
    inside: [...about.replaceAll(/\([^)]*\)/gu, '').matchAll(/`(\w+)\/`/gu)].map(([, room = '']) => room),
  }));
  expect(rows.map(({ floor }) => floor)).toEqual(floors);
  for (const { floor, inside } of rows) if (rooms[floor]) expect(inside, floor).toEqual(rooms[floor]);
  expect(new Set(rows.flatMap(({ files }) => files))).toEqual(new Set(sources.filter((file) => !file.includes('/'))));
});

test('groups of commands never import each other', () => {
  const groupOf = (file: string) => file.split('/').slice(0, 2).join('/');
  const crossed = own
    .filter(({ from, to }) => from.startsWith('commands/') && to.startsWith('commands/'))
    .filter(({ from, to }) => from !== 'commands/index.ts' && groupOf(from) !== groupOf(to));
  expect(crossed).toEqual([]);
});

/** The only users of a module that reaches out of svc's memory. */
const files =
  /^(disk|node|tabular)\/|^program\/completion|^auth\/store-|^(sync|batch)\/journal|^bulk\/(history|journal)\/|^webhooks\/store\/folder\/|^sandbox\/store\//u;
const doors: Record<string, RegExp> = {
  'node:fs': files,
  'node:fs/promises': files,
  'node:http':
    /^node\/direct|^login\/loopback|^mcp\/http|^webhooks\/(receive|inspector|serve)\/|^sandbox\/(server|deliveries\/)/u,
  'node:process': /^node\/(context|environment|hung-up)/u,
  // `sandbox exec` runs another program in its place, `sandbox demo` svc itself: with the one function. A sink's program may find no file left,
  // where execa throws beyond reach.
  'node:child_process': /^(auth|node)\/|^commands\/sandbox\/child|^webhooks\/deliver\/program/u,
};

test.each(Object.entries(doors))('only the rooms named here open %s', (door, users) => {
  const others = imports.filter(({ from, to, typeOnly }) => to === door && !typeOnly && !users.test(from));
  expect(others.map(({ from }) => from)).toEqual([]);
});

// Its secrets are taken out of it at the start (`node/environment.ts`): what is started inherits the rest.
test('only these read the environment of the process', () => {
  const users = /^node\/environment|^program\/quick|^webhooks\/deliver\/program|^disk\/place\/program/u;
  const readers = sources.filter((file) => /process\.env\b/u.test(readFileSync(join(root, 'src', file), 'utf8')));
  expect(readers.filter((file) => !users.test(file))).toEqual([]);
});

test.each(['undici', 'ora', '@inquirer/prompts', '@napi-rs/keyring'])('only the real world loads %s', (library) => {
  const others = imports.filter(({ from, to, typeOnly }) => {
    return (to === library || to.startsWith(`${library}/`)) && !typeOnly && !/^(node|auth)\//u.test(from);
  });
  expect(others.map(({ from }) => from)).toEqual([]);
});

test('the table imports nothing but valibot', () => {
  const libraries = imports.filter(({ from, to }) => /^api\/(?!signature)/u.test(from) && !to.startsWith('api/'));
  expect(new Set(libraries.map(({ to }) => to))).toEqual(new Set(['valibot']));
});

/** The first circle of files, if there is one. */
function circleOf(): readonly string[] | undefined {
  const edges = new Map<string, string[]>();
  for (const one of own) edges.set(one.from, [...(edges.get(one.from) ?? []), one.to]);
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const next of edges.get(file) ?? []) {
      const circle = walk(next, [...path, file]);
      if (circle) return circle;
    }
    done.add(file);
    return undefined;
  };
  return sources.map((file) => walk(file, [])).find(Boolean);
}

test('the first rows of the inbox wait for nothing that sends, pulls, asks or takes long to load', () => {
  const needed = new Set(['inbox/run.ts']);
  for (const file of needed)
    for (const { from, to, typeOnly, lazy } of own) if (from === file && !typeOnly && !lazy) needed.add(to);
  expect(needed).toContain('mirror/store/first-rows.ts');
  expect(
    [...needed].filter((file) =>
      /^(?:sends|answers|mirror\/(?:pull|query\/(?!age))|api\/index|text\/width)/u.test(file),
    ),
  ).toEqual([]);
});

test('nothing is imported in a circle, types and lazy imports included', () => {
  expect(circleOf()).toBeUndefined();
});

test('folders are made by makeFolders alone: what Node has for it may never end', () => {
  const others = sources.filter((file) => {
    const text = readFileSync(join(root, 'src', file), 'utf8');
    // `mkdir -p` is a line for a shell.
    return file !== 'disk/file/make-folders.ts' && /\bmkdir(?:Sync)?\b(?! -p)/u.test(text);
  });
  expect(others).toEqual([]);
});

test('there is no room without a subject', () => {
  expect(sources.filter((file) => /(^|\/)(utils?|helpers?|common|misc|manager|service)(\/|\.ts$)/u.test(file))).toEqual(
    [],
  );
});

// at-rest.ts is run anew for each file (vitest.config.ts).
test('no helper of the tests hooks into them by being imported: the files of a worker share their modules', () => {
  const helpers = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && file !== 'at-rest.ts',
  );
  expect(
    helpers.filter((file) => /^(?:before|after)(?:Each|All)\(/mu.test(readFileSync(join(root, 'test', file), 'utf8'))),
  ).toEqual([]);
});

test('no file outgrows its subject', () => {
  const long = sources.filter((file) => readFileSync(join(root, 'src', file), 'utf8').split('\n').length > 300);
  expect(long).toEqual([]);
});
