import { sanitize } from '../text/sanitize.ts';
import { wrap } from '../text/width.ts';
import type { Terminal } from './view.ts';

/** What a write has done, as people read it on a terminal. */
export const doneLine = (done: string, { width, paint }: Terminal): string =>
  `${paint('green', '✓')} ${wrap(sanitize(done), Math.max(1, width - 2)).join('\n  ')}`;
