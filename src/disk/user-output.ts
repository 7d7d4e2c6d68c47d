import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { Failure } from '../errors.ts';

/** A file that the user asked for: what was there before stays until the new content is whole. */
export type OutputFile = {
  readonly stream: Writable;
  /** The content is whole: put it in its place. */
  commit(): Promise<void>;
  /** It will not become whole: leave nothing behind. */
  abandon(): Promise<void>;
};

export function openOutputFile(path: string): OutputFile {
  const draft = `${path}.${process.pid}.part`;
  const stream = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
  const failed = (error: unknown) =>
    new Failure('failed', `${path} cannot be written: ${(error as Error).message}.`, { cause: error });
  stream.on('error', () => {});
  return {
    stream,
    async commit() {
      try {
        stream.end();
        await finished(stream);
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw failed(error);
      }
    },
    async abandon() {
      stream.destroy();
      await rm(draft, { force: true });
    },
  };
}
