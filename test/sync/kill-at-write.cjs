// Loaded into a real svc by `node --require`: kills the process, as a power cut would, at the Nth write of a journal.
// KILL_AT: N; KILL_HOW: half (the line is torn) or after (written, not yet acted upon).
const fs = require('node:fs/promises');

const open = fs.open;
let writes = 0;

fs.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  if (!/\.jsonl$/.test(String(path)) || rest[0] !== 'r+') return handle;
  const write = handle.write.bind(handle);
  handle.write = async (bytes, at, length, position) => {
    if (++writes !== Number(process.env.KILL_AT)) return write(bytes, at, length, position);
    if (process.env.KILL_HOW === 'half') await write(bytes, at, Math.floor(length / 2), position);
    if (process.env.KILL_HOW === 'after') await write(bytes, at, length, position);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  };
  return handle;
};
