// Loaded into a real svc by `node --require`, and passed on to its threads: kills the process, as a power cut would, at the Nth
// write of the database. KILL_AT: N; KILL_IN: journal, database, or both where it is not given. Half the bytes are written.
// STOP_AT instead: the process stands still right before its Nth write, which it does once it goes on; STOP_BEHIND: right behind it.
const fs = require('node:fs');
const threads = require('node:worker_threads');

if (threads.isMainThread) {
  const { Worker } = threads;
  threads.Worker = class extends Worker {
    constructor(file, options) {
      super(file, { ...options, execArgv: ['--require', __filename] });
    }
  };
}

const { openSync, writeSync } = fs;
const files = new Map();
let writes = 0;

fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  if (String(path).endsWith('.db')) files.set(fd, 'database');
  else if (/\.db(?:-journal|\.undo)$/.test(String(path))) files.set(fd, 'journal');
  else files.delete(fd);
  return fd;
};

// The system stops the threads of a process one after the other: this one waits until it is its turn.
function standStill() {
  process.kill(process.pid, 'SIGSTOP');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}

fs.writeSync = (fd, bytes, at, length, position) => {
  const file = files.get(fd);
  const counts = file !== undefined && (process.env.KILL_IN ?? file) === file;
  if (counts) writes++;
  if (counts && writes === Number(process.env.STOP_AT)) standStill();
  if (counts && writes === Number(process.env.STOP_BEHIND)) {
    const written = writeSync(fd, bytes, at, length, position);
    standStill();
    return written;
  }
  if (!counts || writes !== Number(process.env.KILL_AT)) return writeSync(fd, bytes, at, length, position);
  writeSync(fd, bytes, at, Math.floor(length / 2), position);
  process.kill(process.pid, 'SIGKILL');
  for (;;);
};
