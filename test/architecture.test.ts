import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

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

const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] ?? '') : file.replace(/\.ts$/u, ''));
const own = imports.filter(({ to }) => !to.startsWith('node:') && (to.endsWith('.ts') || to.endsWith('.json')));

/** What each room may import of the others. Types of `context` and `settings`, and `errors`, are for all but `api`. */
const everybody = ['context', 'errors', 'settings', 'version', 'text'];
const allowed: Record<string, readonly string[]> = {
  api: [],
  derive: ['api', 'version'],
  disk: ['context', 'errors'],
  auth: [...everybody, 'api', 'disk', 'http'],
  http: [...everybody, 'api', 'auth', 'disk'],
  cli: [...everybody, 'api', 'http', 'disk', 'auth', 'commands'],
  // What two commands share ends in a View; release knows how GitHub is told of a line.
  sync: [...everybody, 'api', 'http', 'disk', 'cli', 'release'],
  release: [...everybody, 'api', 'http', 'disk'],
  webhooks: [...everybody, 'api', 'http', 'disk'],
  text: [],
  sandbox: [...everybody, 'api', 'webhooks', 'disk'],
  // A new subscription's secret is kept as the commands keep it.
  mcp: [...everybody, 'api', 'derive', 'http', 'sync', 'cli', 'webhooks'],
  node: [...everybody, 'auth', 'disk', 'cli'],
};

describe('who may import whom', () => {
  test.each(Object.keys(allowed))('%s', (room) => {
    const strangers = own
      .filter(({ from }) => from.startsWith(`${room}/`))
      .filter(({ to }) => roomOf(to) !== room && !to.startsWith('..') && !(allowed[room] ?? []).includes(roomOf(to)))
      .map(({ from, to }) => `${from} -> ${to}`);
    expect(strangers).toEqual([]);
  });

  test('commands never import each other, but for the parts of a group', () => {
    const crossed = own.filter(({ from, to }) => {
      if (!from.startsWith('commands/') || !to.startsWith('commands/') || from === 'commands/index.ts') return false;
      const group = from.replace(/^commands\/|\.ts$/gu, '').split('-')[0] ?? '';
      return !to.startsWith(`commands/${group}`);
    });
    expect(crossed).toEqual([]);
  });

  test('only the sandbox takes more than the signature from webhooks', () => {
    const taken = own.filter(({ from, to }) => from.startsWith('sandbox/') && to.startsWith('webhooks/'));
    expect(new Set(taken.map(({ to }) => to))).toEqual(new Set(['webhooks/signature.ts']));
  });
});

/** The only users of a module that reaches out of svc's memory. */
const doors: Record<string, RegExp> = {
  'node:fs':
    /^(disk|node)\/|^auth\/store-file|^sync\/(journal|source|spool)|^webhooks\/(inbox|seat)|^sandbox\/state-file/u,
  'node:fs/promises':
    /^(disk|node)\/|^auth\/store-file|^sync\/(journal|source|spool)|^webhooks\/(inbox|seat)|^sandbox\/state-file/u,
  'node:http': /^node\/direct|^auth\/loopback|^webhooks\/(receiver|inspector\/)|^sandbox\/(server|deliver)/u,
  'node:process': /^context-node/u,
  // `sandbox exec` runs another program in its place, `sandbox demo` svc itself.
  'node:child_process': /^(auth|node)\/|^commands\/sandbox-(exec|demo)/u,
};

test.each(Object.entries(doors))('only the rooms named here open %s', (door, users) => {
  const others = imports.filter(({ from, to, typeOnly }) => to === door && !typeOnly && !users.test(from));
  expect(others.map(({ from }) => from)).toEqual([]);
});

test.each(['undici', 'ora', '@inquirer/prompts', '@napi-rs/keyring'])('only the real world loads %s', (library) => {
  const others = imports.filter(({ from, to, typeOnly }) => {
    return (
      (to === library || to.startsWith(`${library}/`)) && !typeOnly && !/^(node\/|context-node|auth\/)/u.test(from)
    );
  });
  expect(others.map(({ from }) => from)).toEqual([]);
});

test('the table imports nothing but valibot', () => {
  const libraries = imports.filter(({ from, to }) => from.startsWith('api/') && !to.startsWith('api/'));
  expect(new Set(libraries.map(({ to }) => to))).toEqual(new Set(['valibot']));
});

test('nothing is imported in a circle', () => {
  const edges = new Map<string, string[]>();
  for (const { from, to, typeOnly, lazy } of own) {
    if (!typeOnly && !lazy) edges.set(from, [...(edges.get(from) ?? []), to]);
  }
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
  expect(sources.map((file) => walk(file, [])).find(Boolean)).toBeUndefined();
});

test('there is no room without a subject', () => {
  expect(sources.filter((file) => /(^|\/)(utils?|helpers?|common|misc|manager|service)(\/|\.ts$)/u.test(file))).toEqual(
    [],
  );
});

test('no file outgrows its subject', () => {
  const long = sources.filter((file) => readFileSync(join(root, 'src', file), 'utf8').split('\n').length > 300);
  expect(long).toEqual([]);
});
