import type { Context } from '../context.ts';

/** Who writes hears of an error by the write itself (output/write.ts). */
export function openStdout(): Context['stdout'] {
  const { fstatSync, writeSync } = process.getBuiltinModule('node:fs');
  // Closed, or of a kind that cannot be looked at: Node's own stream says what is wrong with it.
  const isFile = (() => {
    try {
      return fstatSync(1).isFile();
    } catch {
      return false;
    }
  })();
  if (!isFile) return process.stdout.on('error', () => {});
  const { Writable } = process.getBuiltinModule('node:stream');
  // Node's own stream for files takes a write of which the disk kept a part for a whole one.
  const file = new Writable({
    decodeStrings: true,
    write(bytes: Buffer, _encoding, done) {
      try {
        for (let written = 0; written < bytes.length; ) written += writeSync(1, bytes, written);
        done();
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  }).on('error', () => {});
  return Object.assign(file, { isFile: true });
}
