'use strict';
// `node compile-chunks.cjs FOLDER`: leaves NAME.code beside each chunk of FOLDER, the code that this very V8 makes of it.
// Of what everyday commands load, with the functions that they call; those need a service, so a sandbox is put around
// it: `node compile-chunks.cjs FOLDER -- NODE compile-chunks.cjs FOLDER`.
const { readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');
const { chunkLoader, wrapped } = require('../bin/chunks.js');

const [folder, dashes, ...command] = process.argv.slice(2);
const scripts = new Map();
const read = (name) => ({ source: readFileSync(join(folder, name)), filename: name });
const load = chunkLoader(read, require, { compiled: (name, script) => scripts.set(name, script) });

const lines = [
  ['config', 'list'],
  ['contacts', 'list', '--quiet'],
  ['tickets', 'list', '--json'],
];

async function everyday({ main, context }) {
  const { quickAnswer } = load('quick.cjs');
  for (const word of ['--version', '--help']) await quickAnswer([word], () => 80);
  for (const argv of lines) {
    const exitCode = await main(argv, context);
    if (exitCode !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${exitCode}`);
  }
  const names = readdirSync(folder).filter((name) => name.endsWith('.cjs') && !name.endsWith('-worker.cjs'));
  for (const name of names) {
    const script = scripts.get(name) ?? new Script(wrapped(read(name).source), { filename: name });
    writeFileSync(join(folder, `${name}.code`), script.createCachedData());
  }
  return 0;
}

const { main, nodeContext } = load('main.cjs');
const context = nodeContext();
const done = dashes === '--' ? main(['sandbox', 'exec', '--', ...command], context) : everyday({ main, context });
done.then((exitCode) => process.exit(exitCode));
