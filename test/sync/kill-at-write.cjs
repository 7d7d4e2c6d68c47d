// Loaded into a real svc by `node --require`: kills the process, as a power cut would, at the Nth write of a journal.
// KILL_AT: N; KILL_HOW: half (the line is torn) or after (written, not yet acted upon).
const fs = require('node:fs');
const files = require('node:fs/promises');

const { writeSync } = fs;
const { open } = files;
const journals = new Set();
let writes = 0;

files.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  if (/\.jsonl$/.test(String(path)) && rest[0] === 'r+') journals.add(handle.fd);
  return handle;
};

fs.writeSync = (fd, bytes, at, length, position) => {
  if (!journals.has(fd) || ++writes !== Number(process.env.KILL_AT)) return writeSync(fd, bytes, at, length, position);
  if (process.env.KILL_HOW === 'half') writeSync(fd, bytes, at, Math.floor(length / 2), position);
  if (process.env.KILL_HOW === 'after') writeSync(fd, bytes, at, length, position);
  process.kill(process.pid, 'SIGKILL');
  // The signal comes at once, but not before the next instruction.
  for (;;);
};
