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
  const { quickAnswer } = require('../dist/quick.cjs');
  const said = await quickAnswer(argv, columns);
  if (said !== undefined) return write(said);
  const [{ main }, { nodeContext }] = [require('../dist/main.cjs'), require('../dist/context-node.cjs')];
  process.exitCode = await main(argv, nodeContext());
}

/** The width of the terminal, asked for only where there is one and the answer needs it. */
function columns() {
  return require('node:fs').fstatSync(1).isCharacterDevice() ? process.stdout.columns : undefined;
}

/** Opening process.stdout alone takes a seventh of a bare Node's start. */
function write(text) {
  try {
    require('node:fs').writeSync(1, text);
  } catch (error) {
    if (error.code === 'EAGAIN') process.stdout.write(text);
    else if (error.code !== 'EPIPE') throw error;
  }
}
