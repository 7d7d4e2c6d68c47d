import type { TestContext } from 'vitest';
import { reachesRegistry } from './registry.ts';

const isAsked = Boolean(process.env.SVC_TEST_ARTEFACTS);

/** Why the files of a release are not built and tried in this run; undefined where they are. */
export async function whyNoArtefacts(folder: string): Promise<string | undefined> {
  if (!isAsked) return 'takes minutes; .ci/run does it, with SVC_TEST_ARTEFACTS=1';
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'is tried on x64 Linux alone';
  return (await reachesRegistry(folder)) ? undefined : 'npm reaches no registry here, where Node comes from';
}

/** For `beforeEach`: skips with that reason. */
export const skipping = (reason: () => string | undefined) => (context: TestContext) => {
  const why = reason();
  if (why !== undefined) context.skip(why);
};
