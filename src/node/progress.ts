import type { Writable } from 'node:stream';

export const createProgress =
  (stderr: Writable) =>
  (text: string | undefined): void => {
    stderr.write(`\r\u001b[K${text ?? ''}`);
  };
