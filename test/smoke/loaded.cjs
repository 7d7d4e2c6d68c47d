// Preloaded into a run of svc: names every chunk that it loads, on file descriptor 3, and at its end what it has loaded of Node.
const Module = require('node:module');
const fs = require('node:fs');
const { basename } = require('node:path');

const told = (path) => {
  const file = String(path);
  if (!/dist.*\.cjs$/u.test(file)) return;
  fs.writeSync(3, `${basename(file).replace(/(-[\w-]{8})?\.c?js$/u, '')}\n`);
};

// What answers at once is loaded by Node, the rest by bin/chunks.js.
const load = Module._extensions['.js'];
Module._extensions['.cjs'] = (module, path) => load(module, path);
const { readFileSync } = fs;
fs.readFileSync = (path, ...how) => {
  told(path);
  return readFileSync(path, ...how);
};

const before = new Set(process.moduleLoadList);
process.on('exit', () => {
  for (const name of process.moduleLoadList)
    if (!before.has(name)) fs.writeSync(3, `${name.replace(/^NativeModule /u, 'node:')}\n`);
});
