/** What a run may set of V8, as it is by itself in V8 as Node 20 to 26 have it. */
const usual = ['semi-space-growth-factor=2', 'heap-growing-percent=0', 'wasm-tier-up', 'wasm-dynamic-tiering'];

let isPutBack = false;

/**
 * Sets flags of V8 for the rest of the run. V8 takes no code that was made under other flags, and what is kept for the next
 * run (bin/chunks.js) is made as this one exits: by then they are as they were.
 */
export function setFlags(flags: readonly string[]): void {
  set(flags);
  if (isPutBack) return;
  isPutBack = true;
  process.prependOnceListener('exit', usualFlags);
}

export const usualFlags = (): void => set(usual);

function set(flags: readonly string[]): void {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  for (const flag of flags) setFlagsFromString(`--${flag}`);
}
