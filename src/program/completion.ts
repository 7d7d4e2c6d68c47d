import { complete } from './complete.ts';
import type { Branch } from './completion-tree.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Answers a Tab. The build leaves the tree of commands beside this file; run from the source, it is built each time. */
export async function answerTab(words: readonly string[], env: Env): Promise<string> {
  return complete(await readTree(), words, () => profiles(env));
}

async function readTree(): Promise<Branch> {
  const built = readJson(new URL('./completion-tree.json', import.meta.url));
  if (built) return built as Branch;
  const { completionTree } = await import('./completion-tree.ts');
  return completionTree();
}

/** The names of the saved logins; none where there is no readable configuration, for a Tab never complains. */
async function profiles(env: Env): Promise<readonly string[]> {
  const { default: envPaths } = await import('env-paths');
  const folder = env.SVC_CONFIG_DIR || envPaths('svc', { suffix: '' }).config;
  const config = readJson(`${folder}/config.json`) as { profiles?: object } | undefined;
  return Object.keys(config?.profiles ?? {});
}

function readJson(file: string | URL): unknown {
  try {
    return JSON.parse(process.getBuiltinModule('node:fs').readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
