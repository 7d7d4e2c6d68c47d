import { Transform } from 'node:stream';
import { deepest, isTooDeep } from '../text/json-depth.ts';

/** Of one message, in bytes: 2,000 rows of contacts_sync with much metadata stay below it. */
export const largestMessage = 16 * 1024 * 1024;

const lineFeed = Buffer.from('\n');

/** Why a line is not read: as it is told to whoever wrote it. */
const unread = {
  tooLong: `A line may have at most ${largestMessage / 1024 / 1024} MB.`,
  tooDeep: `A line may be nested ${deepest} levels deep.`,
} as const;

/** Nothing is asked in it. */
const isBlank = (line: Buffer): boolean => line.length <= 2 && line.toString('latin1').trim() === '';

/**
 * Passes whole lines on, each as one piece with its end, which the last one need not have. One that is longer than a
 * message may be is passed over, and not kept meanwhile; so is one that could not be parsed without filling the memory.
 */
export function wholeLines(refuse: (why: string) => void): Transform {
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size > largestMessage) parts = [];
    else parts.push(part);
  };
  const end = (lines: Transform) => {
    const line = Buffer.concat([...parts, lineFeed]);
    if (size > largestMessage) refuse(unread.tooLong);
    else if (isTooDeep(line.toString('latin1'))) refuse(unread.tooDeep);
    else if (!isBlank(line)) lines.push(line);
    parts = [];
    size = 0;
  };
  return new Transform({
    readableObjectMode: true,
    transform(piece: Buffer, _, done) {
      let from = 0;
      for (let at = piece.indexOf(lineFeed); at >= 0; at = piece.indexOf(lineFeed, from)) {
        add(piece.subarray(from, at));
        end(this);
        from = at + 1;
      }
      add(piece.subarray(from));
      done();
    },
    flush(done) {
      if (size > 0) end(this);
      done();
    },
  });
}
