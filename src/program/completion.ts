import { credentialKinds } from '../api/operation.ts';
import { firstWordAt } from '../command/global-flags.ts';
import type { Config } from '../config/settings.ts';
import type { Env } from '../env.ts';
import { orElse } from '../errors.ts';
import { once } from '../promise/once.ts';
import { childOf, complete, type Own } from './complete.ts';
import type { Branch } from './completion-tree.ts';

/** Answers a Tab. The build leaves the tree of commands beside this file; run from the source, it is built each time. */
export async function answerTab(typed: readonly string[], env: Env): Promise<string> {
  const tree = await readTree();
  const read = once(() => readConfig(env));
  const folder = async () => (await import('../disk/place/home.ts')).ownFolder('config', env);
  const own: Own = {
    profiles: async () => Object.keys((await read()).profiles ?? {}),
    logins: async () => loginsOf(await folder()),
    aliases: async () => Object.keys((await read()).aliases ?? {}),
    templates: async () => templatesOf(await folder()),
    views: async () => viewsOf(await folder()),
  };
  // The command is being typed, or a name of the user's own may stand in its place.
  const at = firstWordAt(typed.slice(0, -1));
  if (at >= 0 && childOf(tree.children ?? {}, typed[at] ?? '')) return complete(tree, typed, own);
  const { aliases = {} } = await read();
  if (at < 0) return complete(withAliases(tree, aliases), typed, own);
  const command = Object.hasOwn(aliases, typed[at] ?? '') ? aliases[typed[at] ?? ''] : undefined;
  if (typeof command !== 'string') return complete(tree, typed, own);
  const { wordsOf } = await import('../config/aliases.ts');
  const words = wordsOf(command);
  const alias = { from: at, to: at + words.length };
  return complete(tree, [...typed.slice(0, at), ...words, ...typed.slice(at + 1)], own, alias);
}

const withAliases = (tree: Branch, aliases: Readonly<Record<string, string>>): Branch => ({
  ...tree,
  children: {
    ...Object.fromEntries(Object.entries(aliases).map(([name, command]) => [name, { about: `svc ${command}` }])),
    ...tree.children,
  },
});

async function readTree(): Promise<Branch> {
  const built = readJson(() => new URL('./completion-tree.json', import.meta.url));
  if (built) return built as Branch;
  const { completionTree } = await import('./completion-tree.ts');
  return completionTree();
}

/** Nothing where there is no readable configuration, for a Tab never complains. */
async function readConfig(env: Env): Promise<Config> {
  const { ownFolder } = await import('../disk/place/home.ts');
  const config = readJson(() => `${ownFolder('config', env)}/config.json`);
  return typeof config === 'object' && config !== null ? config : {};
}

/** By the names in the file of secrets, which has those that a keyring holds, too. */
function loginsOf(folder: string): readonly string[] {
  const { secrets } = Object(readJson(() => `${folder}/credentials.json`));
  const parts = Object.keys(Object(secrets)).map((name) => name.split('/'));
  const held = parts.filter(([of, , kind]) => of === 'profile' && credentialKinds.some((one) => one === kind));
  return [...new Set(held.map(([, profile = '']) => profile))].sort();
}

async function templatesOf(folder: string): Promise<readonly string[]> {
  const [{ namesIn }, { templateNames }] = [
    await import('../disk/file/folder.ts'),
    await import('../text/template.ts'),
  ];
  return templateNames(await namesIn(`${folder}/templates`).catch(() => []));
}

async function viewsOf(config: string): Promise<readonly string[]> {
  const { allViews } = await import('../inbox/views.ts');
  return (await allViews({ files: { config, state: '' } }).catch(() => [])).map(({ name }) => name);
}

const readJson = (file: () => string | URL): unknown =>
  orElse(() => JSON.parse(process.getBuiltinModule('node:fs').readFileSync(file(), 'utf8')), undefined);
