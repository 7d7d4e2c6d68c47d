#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 18)) {
  process.stderr.write(`svc needs Node 20.18.1 or newer; this is ${process.versions.node}.\n`);
  process.exitCode = 1;
} else {
  const { main, nodeContext } = require('../dist/main.cjs');
  main(process.argv.slice(2), nodeContext()).then((code) => {
    process.exitCode = code;
  });
}
