import { open } from 'node:fs/promises';
import { nothingThere } from '../file/nothing-there.ts';

/** The lines of a file that others only add to: first from its beginning, and from then on only what came behind. */
export function tailOf(path: string) {
  let at = 0;
  return {
    /** The whole lines since the last call; a file that is not there has none. To be asked under the lock of its writers. */
    async lines() {
      const file = await open(path, 'r').catch(nothingThere);
      if (!file) return [];
      try {
        const { size } = await file.stat();
        if (size < at) throw new Error(`${path} is shorter than it was`);
        const { buffer, bytesRead } = await file.read(Buffer.alloc(size - at), 0, size - at, at);
        const text = buffer.subarray(0, bytesRead);
        const end = text.lastIndexOf(10) + 1;
        at += end;
        return text.subarray(0, end).toString('utf8').split('\n').filter(Boolean);
      } finally {
        await file.close();
      }
    },
  };
}
