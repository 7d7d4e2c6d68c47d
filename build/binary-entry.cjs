'use strict';
// A script is started as `node script …`, and so does svc start itself; an executable is both node and script.
process.argv[1] = process.execPath;
if (process.argv[2] === process.execPath) process.argv.splice(2, 1);
require('../bin/svc.js');
