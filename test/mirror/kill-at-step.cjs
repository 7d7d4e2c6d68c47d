// Loaded into a real svc by `node --require`: kills the process, as a power cut would, at the Nth thing that it does in the folder
// KILL_IN, before it is done; of what it would write, half is written. KILL_AT: N.
// power-cut.ts does the same in the process of the tests.
const files = require('node:fs');
const { syncBuiltinESMExports } = require('node:module');

const fs = files.promises;
const { appendFileSync } = files;

/** From now on `cut` is called before the Nth step in the folder; where it throws, that step is not done. Returns what ends it. */
exports.atStep = (folder, at, cut) => {
  const isInside = (path) => String(path).startsWith(folder);
  let steps = 0;
  const step = (half) => {
    steps++;
    if (steps === at) half?.();
    if (steps >= at) cut();
  };
  const before = { ...fs };
  for (const name of ['mkdir', 'writeFile', 'rm', 'rmdir', 'rename']) {
    fs[name] = async (path, ...rest) => {
      if (isInside(path)) step();
      return before[name](path, ...rest);
    };
  }
  fs.open = async (path, ...rest) => {
    if (!isInside(path)) return before.open(path, ...rest);
    const handle = await before.open(path, ...rest);
    try {
      step();
    } catch (error) {
      await handle.close();
      throw error;
    }
    for (const name of ['appendFile', 'writeFile', 'sync', 'close']) {
      const real = handle[name].bind(handle);
      handle[name] = async (data, ...more) => {
        try {
          step(data === undefined ? undefined : () => appendFileSync(path, data.slice(0, data.length / 2)));
        } catch (error) {
          // Nothing else closes it.
          if (name === 'close') await real();
          throw error;
        }
        return real(data, ...more);
      };
    }
    return handle;
  };
  // Of a lock.
  const { closeSync, mkdirSync, openSync, unlinkSync } = files;
  for (const [name, real] of Object.entries({ mkdirSync, unlinkSync })) {
    files[name] = (path, ...rest) => {
      if (isInside(path)) step();
      return real(path, ...rest);
    };
  }
  files.openSync = (path, flags, ...rest) => {
    const file = openSync(path, flags, ...rest);
    try {
      if (isInside(path) && flags === 'wx') step();
    } catch (error) {
      closeSync(file);
      throw error;
    }
    return file;
  };
  // What imports one of them by its name has it too.
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, before);
    Object.assign(files, { mkdirSync, openSync, unlinkSync });
    syncBuiltinESMExports();
  };
};

if (process.env.KILL_IN !== undefined) {
  exports.atStep(process.env.KILL_IN, Number(process.env.KILL_AT), () => {
    process.kill(process.pid, 'SIGKILL');
    for (;;);
  });
}
