import { turns } from './lines.ts';

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean; setRawMode?(mode: boolean): unknown };

const ctrlC = 3;

/**
 * One approves what one has read: what was typed before a question was on the screen is read and thrown away. A Ctrl-C
 * among it still ends the command. Of a pipe nothing is dropped, for what waits there is meant.
 */
export async function dropTypedAhead(input: Input): Promise<void> {
  if (!input.isTTY) return;
  let isLeft = false;
  const heard = (typed: Buffer | string) => {
    isLeft ||= Buffer.from(typed).includes(ctrlC);
  };
  // Else the terminal keeps back a line that has not ended.
  input.setRawMode?.(true);
  input.on('data', heard).resume();
  await turns();
  input.off('data', heard).pause();
  input.setRawMode?.(false);
  if (isLeft) process.emit('SIGINT');
}
