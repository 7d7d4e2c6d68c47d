import { join } from 'node:path';
import type { Clock } from '../../context.ts';
import { replaceFile } from '../../disk/file/atomic-file.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { isDone } from '../../promise/whether.ts';

type Needs = {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly notice: (text: string) => void;
  /** Rejects where the inbox cannot be written. */
  readonly probe: () => Promise<void>;
  /** Nobody is to be told any more. */
  readonly signal: AbortSignal;
};

const askMs = 1_000;

/** Deliveries that the inbox does not take: not all of one size may find room. */
export type Refusing = {
  /** One was not taken just now. */
  readonly isOn: () => boolean;
  /** People were told that it answers again: the next one that is not taken is news. */
  readonly over: () => void;
};

/**
 * Returns what is called when people were told that the inbox fails. From then on it is asked each second, for the next
 * delivery may be hours away, and that it answers again is told once.
 */
export function tellingRecovery({ clock, notice, probe, signal }: Needs): (refusing: Refusing) => void {
  let isAsking = false;
  let last: Refusing | undefined;
  const ask = async () => {
    while (!signal.aborted) {
      await clock.sleep(askMs, signal);
      if (signal.aborted) return;
      const answers = await isDone(probe());
      // A probe is small: where a delivery still finds no room it proves nothing.
      if (!answers || signal.aborted || last?.isOn()) continue;
      last?.over();
      notice('The inbox answers again.');
      return;
    }
  };
  return (refusing) => {
    last = refusing;
    if (isAsking) return;
    isAsking = true;
    void ask().finally(() => {
      isAsking = false;
    });
  };
}

/** Whether more can be written beside the inbox: rejects with the disk's own error. */
export async function probeFolder(folder: string): Promise<void> {
  const path = join(folder, 'probe');
  await replaceFile(path, 'x'.repeat(4096));
  await removeFile(path);
}
