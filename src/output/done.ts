import { toldCommand } from '../text/layout.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, wrap } from '../text/width.ts';
import type { Terminal } from './view.ts';

/** For private use, and one cell wide: it stands for the blanks of a command, which could not be typed in two lines. */
const blank = '\ue000';

/** What a write has done, as people read it on a terminal. */
export function doneLine(done: string, { width, paint }: Terminal): string {
  const room = Math.max(1, width - 2);
  const unbroken = (command: string) => (cells(command) <= room ? command.replaceAll(' ', blank) : command);
  const lines = wrap(sanitize(done).replaceAll(toldCommand, unbroken), room);
  return `${paint('green', '✓')} ${lines.join('\n  ').replaceAll(blank, ' ')}`;
}
