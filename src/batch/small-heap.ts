import { setFlags } from '../v8-flags.ts';

/**
 * For work on many rows: what is made of one is garbage a moment later. V8 doubles the room for it all the same, and lets
 * the heap grow to four times what is held before it looks: 60 MB more, for the same speed. Both flags are read at each
 * collection, in V8 as Node 20 to 26 have it; a later one might not know them, and would complain.
 */
export function keepHeapSmall(): void {
  if (Number(process.versions.node.split('.')[0]) > 26) return;
  setFlags(['semi-space-growth-factor=1', 'heap-growing-percent=50']);
}
