/** What bin/svc.js starts: one file, since each takes a fifth of a millisecond to open. */
export { main } from './main.ts';
export { nodeContext, runToItsEnd } from './node/context.ts';
