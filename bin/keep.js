'use strict';
const { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { head } = require('./chunks.js');

/** Writes compiled code to `path`, of the chunks that are in `folder` still: an older svc had others. */
exports.keep = (path, folder, parts) => {
  const shipped = new Set(readdirSync(folder));
  const own = Object.entries(parts).filter(([name]) => shipped.has(name));
  const store = dirname(path);
  makeFolder(store);
  // As root for somebody else's home: the file would be in their way.
  if (process.getuid && statSync(store).uid !== process.getuid()) return;
  replace(path, packed(own));
  removeOld(store, basename(path));
};

/** The folder itself, and at most the one above: a home that is not there is not made. */
function makeFolder(folder) {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT') throw error;
    mkdirSync(dirname(folder), { mode: 0o700 });
    mkdirSync(folder, { mode: 0o700 });
  }
}

/** Whole or not at all; of two processes the later one wins, and both are right. */
function replace(path, bytes) {
  const draft = `${path}.${process.pid}-${process.hrtime.bigint().toString(36)}`;
  try {
    writeFileSync(draft, bytes, { flag: 'wx', mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * The index tells where each part begins, so its own length must be known first: it is filled up with spaces. The index and
 * the code stand there twice (`openStore`).
 */
function packed(rows) {
  const indexFrom = (start) => {
    let at = start;
    const index = {};
    for (const [name, { code, source }] of rows) {
      index[name] = { at, length: code.length, from: source.length };
      at += 2 * code.length + source.length;
    }
    return JSON.stringify(index);
  };
  const room = indexFrom(1e9).length;
  const index = Buffer.from(indexFrom(head.bytes + 2 * room).padEnd(room));
  const top = Buffer.alloc(head.bytes);
  top.write(head.mark, 'latin1');
  top.writeUInt32LE(head.format, 4);
  top.writeUInt32LE(index.length, 8);
  top.writeUInt32LE(index.length, 12);
  return Buffer.concat([top, index, index, ...rows.flatMap(([, { code, source }]) => [code, code, source])]);
}

const longUnusedMs = 30 * 24 * 60 * 60 * 1000;

/** What another Node left here long ago, or a process that was killed while it wrote. */
function removeOld(folder, own) {
  for (const name of readdirSync(folder)) {
    if (name === own || !name.startsWith('compiled-')) continue;
    const path = join(folder, name);
    if (statSync(path).mtimeMs < Date.now() - longUnusedMs) rmSync(path, { force: true });
  }
}
