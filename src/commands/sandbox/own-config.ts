import { join } from 'node:path';
import { configPath, readConfig } from '../../config/config-file.ts';
import type { Context } from '../../context.ts';
import { replaceFile } from '../../disk/atomic-file.ts';
import { copyFolder } from '../../disk/private-folder.ts';

/**
 * A copy of the user's aliases, templates and ways of printing. No profile: a rehearsal knows the sandbox alone. Nor the place
 * of the team's drafts: one of the rehearsal would stand among them.
 */
export async function copyOwnConfig({ files }: Pick<Context, 'files'>, config: string): Promise<void> {
  const { profiles: _, default_profile: __, drafts: ___, ...own } = await readConfig(files);
  await replaceFile(configPath({ ...files, config }), `${JSON.stringify(own, null, 2)}\n`);
  await copyFolder(join(files.config, 'templates'), join(config, 'templates'));
}

/** A rehearsal has no journals: rows of a file that were sent before would go out in it. */
export const sendsRows = (command: readonly string[]): boolean =>
  /\s--from[\s=]|\bcontacts? sync\s|\blists? import\s/u.test(` ${command.join(' ')} `);
