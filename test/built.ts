import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Built = {
  /** To be run with Node. */
  readonly script: string;
  /** A folder for whatever the test leaves. */
  readonly folder: string;
  remove(): Promise<void>;
};

/** The built tool (`build-once.ts`), with a fresh folder for one test file. */
export async function buildSvc(): Promise<Built> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-work-'));
  return {
    script: join(process.env.SVC_TEST_BUILD ?? '', 'bin', 'svc.js'),
    folder,
    // A process that was killed may still have been making a file there.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10 }),
  };
}
