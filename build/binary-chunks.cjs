'use strict';
// In the executable this stands for bin/chunks.js and for what bin/svc.js requires of dist/: chunks are assets, each
// with the code that V8 made of it when the executable was built.
const { join } = require('node:path');
const { getRawAsset } = require('node:sea');
const { chunkLoader } = require('../bin/chunks.js');

const compiled = new Set(JSON.parse(bytes('compiled.json')));
const load = chunkLoader(
  (name) => ({
    source: bytes(name),
    filename: join(process.execPath, name),
    code: compiled.has(name) ? bytes(`${name}.code`) : undefined,
  }),
  require,
);

function bytes(name) {
  return Buffer.from(getRawAsset(name));
}

exports.loader = () => load;
exports.quickAnswer = (...given) => load('quick.cjs').quickAnswer(...given);
