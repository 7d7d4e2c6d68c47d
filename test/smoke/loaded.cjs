// Preloaded into a run of svc: names every chunk that it loads, on file descriptor 3.
const Module = require('node:module');
const { writeSync } = require('node:fs');
const { basename } = require('node:path');

const load = Module._extensions['.js'];
Module._extensions['.cjs'] = Module._extensions['.js'] = function told(module, path) {
  if (path.includes('dist')) writeSync(3, `${basename(path).replace(/(-[\w-]{8})?\.c?js$/u, '')}\n`);
  return load.call(this, module, path);
};
