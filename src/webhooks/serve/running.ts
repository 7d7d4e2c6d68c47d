import { join } from 'node:path';
import { readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { namesIn, removeFile } from '../../disk/file/folder.ts';
import { tryLock } from '../../disk/lock/lock.ts';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn, isText, textIn } from '../../text/record.ts';
import { slotHolder } from '../store/folder/slot.ts';

/** A `serve` that runs with this state folder. */
export type RunningServe = {
  /** The path of its configuration. */
  readonly config: string;
  /** Whose events it takes; absent where its configuration has accounts. */
  readonly profile?: string;
};

const rootOf = (state: string): string => join(state, 'webhooks', 'serving');
const aboutOf = (folder: string): string => join(folder, 'about.json');

/** Tells other commands of this state folder that `serve` runs. Returns what ends that; a kill ends it too. */
export async function announce(state: string, about: RunningServe): Promise<() => Promise<void>> {
  for (let number = 1; ; number++) {
    const folder = join(rootOf(state), String(number));
    const held = await tryLock(join(folder, 'lock'));
    if (!held) continue;
    await replaceFile(aboutOf(folder), JSON.stringify(about));
    return async () => {
      await removeFile(aboutOf(folder));
      await held.release();
    };
  }
}

export async function runningServes(state: string): Promise<RunningServe[]> {
  const found: RunningServe[] = [];
  for (const name of await namesIn(rootOf(state))) {
    const folder = join(rootOf(state), name);
    if (!/^\d+$/u.test(name) || (await slotHolder(folder)) === undefined) continue;
    const about = aboutIn(await readIfThere(aboutOf(folder)));
    if (about) found.push(about);
  }
  return found;
}

function aboutIn(text: string | undefined): RunningServe | undefined {
  const { config, profile } = fieldsIn(jsonIn(text ?? ''));
  return isText(config) ? { config, profile: textIn(profile) } : undefined;
}
