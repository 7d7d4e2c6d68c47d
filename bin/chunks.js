'use strict';
const { closeSync, constants, fstatSync, openSync, readFileSync, readSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');

/** On one line, so that a stack trace counts lines as the file does. */
const wrapped = (source) => `(function (exports, require, module, __filename, __dirname) { ${source}\n})`;

/**
 * Loads the chunks of dist/, as `require` would: half of what a command costs is V8 compiling them, so the compiled
 * code is kept between runs. `read(name)` gives a chunk's source, its file name, and the code that was kept of it.
 */
exports.chunkLoader = (read, outside, { compiled } = {}) => {
  const modules = new Map();
  const load = (name) => {
    const known = modules.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(name, module);
    const { source, filename, code } = read(name);
    const script = new Script(wrapped(source), { filename, cachedData: code });
    compiled?.(name, script);
    script.runInThisContext().call(module.exports, module.exports, inside, module, filename, dirname(filename));
    return module.exports;
  };
  const inside = (id) => (id.startsWith('./') ? load(id.slice(2)) : outside(id));
  return load;
};

/** Loads chunks, and keeps what V8 made of them for the next run, where there is a place for it. */
exports.loader = () => {
  const folder = join(__dirname, '..', 'dist');
  const store = storePath();
  if (store === undefined) return exports.chunksIn(folder);
  const kept = exports.openStore(store, folder);
  process.on('exit', () => {
    if (process.exitCode) return;
    try {
      kept.save();
    } catch {
      // A folder that cannot be written to, or a full disk: the next run compiles again.
    }
  });
  return exports.chunksIn(folder, kept);
};

/** One file for each Node that svc is run with. Node's own variable for its compile cache holds here too. */
function storePath() {
  const { arch, env, execArgv, platform, version } = process;
  // Coverage and profiles are about code that was compiled here.
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE || env.NODE_OPTIONS || execArgv.length > 0)
    return undefined;
  const name = `compiled-${version}-${arch}`;
  if (env.SVC_STATE_DIR) return join(env.SVC_STATE_DIR, name);
  const home = { win32: env.LOCALAPPDATA, darwin: env.HOME && join(env.HOME, 'Library', 'Caches') }[platform];
  const caches = home ?? (env.XDG_CACHE_HOME || (env.HOME && join(env.HOME, '.cache')));
  return caches ? join(caches, 'svc', name) : undefined;
}

/** The chunks in a folder, with the compiled code that `store` keeps. */
exports.chunksIn = (folder, store) => {
  const read = (name) => {
    const filename = join(folder, name);
    const bytes = readFileSync(filename);
    return { source: bytes.toString(), filename, code: store?.codeOf(name, bytes) };
  };
  return exports.chunkLoader(read, require, { compiled: store?.compiled });
};

/** Before the index: a mark, the format, the index's length and its checksum. */
const head = { bytes: 16, mark: 'svc\n', format: 1 };
const largestIndex = 1024 * 1024;

/**
 * Compiled code in one file of the user's own cache folder. V8 itself judges whether code is of this V8, but it looks
 * neither at the code nor at what it was made from, so both are held against checksums. Whatever is wrong with the
 * file, or with the folder, the chunks are compiled as if there were none; a run never fails or warns for it.
 */
exports.openStore = (path, folder) => {
  const { crc32 } = process.getBuiltinModule('node:zlib');
  const { file, parts } = openParts(path, crc32);
  const used = new Map();
  return {
    codeOf(name, bytes) {
      const [of, from] = [crc32(bytes), bytes.length];
      const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
      const code = part && part.of === of && part.from === from ? slice(file, part, crc32) : undefined;
      used.set(name, { of, from, isNew: code === undefined, script: undefined });
      return code;
    },
    compiled(name, script) {
      const one = used.get(name);
      if (script.cachedDataRejected) one.isNew = true;
      if (one.isNew) one.script = script;
    },
    /** When the run is over: by then V8 has compiled the functions that were called, too. */
    save() {
      const added = [...used].filter(([, { isNew, script }]) => isNew && script);
      if (added.length === 0) return closed(file);
      const kept = {};
      for (const [name, part] of Object.entries(parts)) {
        const code = used.get(name)?.isNew ? undefined : slice(file, part, crc32);
        if (code) kept[name] = { ...part, code };
      }
      closed(file);
      for (const [name, { script, ...part }] of added) kept[name] = { ...part, code: script.createCachedData() };
      require('./keep.js').keep(path, folder, kept);
    },
  };
};

/** The open file and its index; no parts where it is not there, not ours, or not whole. */
function openParts(path, crc32) {
  const none = { file: undefined, parts: {} };
  let file;
  try {
    // What others may write to, or put here by a second name, is not believed: it would run as the user.
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(file);
    const isOwn = !process.getuid || (stat.uid === process.getuid() && (stat.mode & 0o022) === 0);
    if (!isOwn || !stat.isFile() || stat.nlink > 1) return closed(file, none);
    const top = Buffer.alloc(head.bytes);
    if (readSync(file, top, 0, head.bytes, 0) < head.bytes) return closed(file, none);
    const [format, length, sum] = [4, 8, 12].map((at) => top.readUInt32LE(at));
    const isKnown = top.latin1Slice(0, 4) === head.mark && format === head.format;
    if (!isKnown || length > largestIndex) return closed(file, none);
    const index = Buffer.alloc(length);
    if (readSync(file, index, 0, length, head.bytes) < length || crc32(index) !== sum) return closed(file, none);
    return { file, parts: JSON.parse(index.toString()) };
  } catch {
    return closed(file, none);
  }
}

function closed(file, value) {
  if (file !== undefined) closeSync(file);
  return value;
}

function slice(file, { at, length, sum }, crc32) {
  try {
    const code = Buffer.allocUnsafeSlow(length);
    return readSync(file, code, 0, length, at) === length && crc32(code) === sum ? code : undefined;
  } catch {
    return undefined;
  }
}

exports.head = head;
exports.wrapped = wrapped;
