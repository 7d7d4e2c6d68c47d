// Loaded into a real svc by `node --require`: kills the process, as a power cut would, at the Nth thing that it does in the folder
// KILL_IN, before it is done; of what it would write, half is written. KILL_AT: N.
const fs = require('node:fs').promises;
const { appendFileSync } = require('node:fs');

const isInside = (path) => String(path).startsWith(process.env.KILL_IN);
let steps = 0;

function step(half) {
  steps++;
  if (steps !== Number(process.env.KILL_AT)) return;
  half?.();
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

for (const name of ['mkdir', 'writeFile', 'rm', 'rmdir', 'rename']) {
  const real = fs[name];
  fs[name] = (path, ...rest) => {
    if (isInside(path)) step();
    return real(path, ...rest);
  };
}

const { open } = fs;
fs.open = async (path, ...rest) => {
  const handle = await open(path, ...rest);
  if (!isInside(path)) return handle;
  step();
  for (const name of ['appendFile', 'writeFile', 'sync', 'close']) {
    const real = handle[name].bind(handle);
    handle[name] = (data, ...more) => {
      step(data === undefined ? undefined : () => appendFileSync(path, data.slice(0, data.length / 2)));
      return real(data, ...more);
    };
  }
  return handle;
};
