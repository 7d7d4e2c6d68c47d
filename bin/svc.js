#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 18)) {
  process.stderr.write(`svc needs Node 20.18.1 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  run(process.argv.slice(2));
}

async function run(argv) {
  if (mayBeQuick(argv)) {
    const { quickAnswer } = require('../dist/quick.cjs');
    const said = await quickAnswer(argv, columns);
    if (said !== undefined) return write(said);
  }
  const load = require('./chunks.js').loader();
  const { main, nodeContext, runToItsEnd } = load('main.cjs');
  const ctx = nodeContext();
  await runToItsEnd(main(argv, ctx), ctx);
  // Once nothing is left to be done; Node would clear up its memory first, which takes a millisecond.
  process.once('beforeExit', () => process.exit());
  // The run is over and its output is out: it ends, whatever a library keeps open.
  setTimeout(() => process.exit(), 3000).unref();
}

/** What surely is another command is not asked about, which would load two files. */
function mayBeQuick([first, ...more]) {
  return more.length === 0 || /^(?:-|_|help$|version$)/u.test(first);
}

/** The width of the terminal, asked for only where there is one and the answer needs it. */
function columns() {
  return require('node:fs').fstatSync(1).isCharacterDevice() ? process.stdout.columns : undefined;
}

/** Opening process.stdout alone takes a seventh of a bare Node's start. */
function write(text) {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    // A disk that is nearly full takes a part.
    while (written < bytes.length) written += require('node:fs').writeSync(1, bytes, written);
  } catch (error) {
    if (error.code === 'EAGAIN') return slowly(bytes.subarray(written));
    if (error.code !== 'EPIPE') refused(error);
  }
}

/** To a reader that is not ready, and may leave before it is. */
function slowly(bytes) {
  process.stdout.on('error', (error) => error.code === 'EPIPE' || refused(error)).write(bytes);
}

function refused({ code, message }) {
  const reason = code === 'ENOSPC' ? 'the disk is full' : message;
  process.exitCode = 1;
  process.stderr.on('error', () => {}).write(`Error: Standard output could not be written: ${reason}.\n`);
}
