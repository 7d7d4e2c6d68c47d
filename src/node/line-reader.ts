import { StringDecoder } from 'node:string_decoder';

/** Lines of standard input, one when it is asked for; between them nothing is read, so that another program may. */
export function lineReader(input: NodeJS.ReadStream, signal: AbortSignal) {
  // A character may come in two parts.
  const decoder = new StringDecoder('utf8');
  let left = '';
  let isOver = false;
  const next = (): string | undefined => {
    const end = left.indexOf('\n');
    if (end < 0 && !(isOver && left !== '')) return undefined;
    const line = end < 0 ? left : left.slice(0, end);
    left = end < 0 ? '' : left.slice(end + 1);
    return line.replace(/\r$/u, '');
  };
  return {
    /** Forgets what was read behind the last line. */
    forget(): void {
      left = '';
    },
    next: () =>
      new Promise<string | undefined>((resolve) => {
        const known = next();
        if (known !== undefined || isOver || signal.aborted) return resolve(known);
        const done = (line: string | undefined) => {
          input.pause();
          input.off('data', heard).off('end', over);
          signal.removeEventListener('abort', stopped);
          resolve(line);
        };
        const heard = (bytes: Buffer | string) => {
          left += typeof bytes === 'string' ? bytes : decoder.write(bytes);
          const line = next();
          if (line !== undefined) done(line);
        };
        const over = () => {
          isOver = true;
          done(next());
        };
        const stopped = () => done(undefined);
        signal.addEventListener('abort', stopped, { once: true });
        input.on('data', heard).on('end', over).resume();
      }),
  };
}
