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
  const load = loader();
  const [{ main }, { nodeContext }] = [load('main.cjs'), load('context-node.cjs')];
  process.exitCode = await main(argv, nodeContext());
}

/** Loads chunks, and keeps what V8 made of them for the next run, where there is a place for it. */
function loader() {
  const { join } = require('node:path');
  const { chunksIn, openStore } = require('./chunks.js');
  const folder = join(__dirname, '..', 'dist');
  const store = storePath(join);
  if (store === undefined) return chunksIn(folder);
  const kept = openStore(store, folder);
  process.on('exit', () => {
    if (process.exitCode) return;
    try {
      kept.save();
    } catch {
      // A folder that cannot be written to, or a full disk: the next run compiles again.
    }
  });
  return chunksIn(folder, kept);
}

/** One file for each Node that svc is run with. Node's own variable for its compile cache holds here too. */
function storePath(join) {
  const { arch, env, execArgv, platform, version } = process;
  // Coverage and profiles are about code that was compiled here.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE || env.NODE_OPTIONS || execArgv.length > 0)
    return undefined;
  const name = `compiled-${version}-${arch}`;
  if (env.SVC_STATE_DIR) return join(env.SVC_STATE_DIR, name);
  const home = { win32: env.LOCALAPPDATA, darwin: env.HOME && join(env.HOME, 'Library', 'Caches') }[platform];
  const caches = home ?? (env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache')));
  return caches ? join(caches, 'svc', name) : undefined;
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
