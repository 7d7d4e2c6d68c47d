'use strict';
const { isAscii } = require('node:buffer');
const {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statSync,
} = require('node:fs');
const { userInfo } = require('node:os');
const { dirname, join, resolve, sep } = require('node:path');
const { Script } = require('node:vm');

const [before, after] = ['(function (exports, require, module, __filename, __dirname) { ', '\n})'].map((text) =>
  Buffer.from(text),
);

/**
 * The source as a function, on one line, so that a stack trace counts lines as the file does. Joined before it is a text: V8
 * would join texts by a second copy, and collects its memory the sooner. Nearly every chunk is in ASCII, which is quicker
 * to read.
 */
function wrapped(source) {
  const whole = Buffer.concat([before, source, after]);
  return isAscii(whole) ? whole.latin1Slice() : whole.utf8Slice();
}

/**
 * Loads the chunks of dist/, as `require` would: half of what a command costs is V8 compiling them, so the compiled
 * code is kept between runs. `read(name)` gives the bytes of a chunk's source, its file name, and the code that was kept of it;
 * `loaded(name)` the module of a chunk that somebody else has loaded already.
 */
exports.chunkLoader = (read, outside, { compiled, loaded } = {}) => {
  const modules = new Map();
  const load = (name) => {
    const known = modules.get(name) ?? loaded?.(name);
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
  const store = mayKeep(process) ? exports.storePath(process) : undefined;
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

/** Node's own variable for its compile cache holds here too. A machine of CI is new each time, and others fill its caches. */
function mayKeep({ env, execArgv }) {
  if (!['', '0', 'false'].includes((env.CI ?? '').toLowerCase())) return false;
  // Coverage and profiles are about code that was compiled here.
  return !(env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE || env.NODE_OPTIONS || execArgv.length > 0);
}

/**
 * The file for this Node, in the cache folder of the user's own home; undefined where others could have put something
 * there. What is in it runs as the user, so no variable chooses it, not even HOME: a project's folder may set those.
 */
exports.storePath = ({ arch, env, platform, version, cwd }) => {
  try {
    const home = realpathSync.native(userInfo().homedir);
    const caches = join(
      home,
      ...({ win32: ['AppData', 'Local'], darwin: ['Library', 'Caches'] }[platform] ?? ['.cache']),
    );
    const folder = realOf(join(realOf(caches), 'svc'));
    const isChosen = [env.SVC_STATE_DIR, env.SVC_CONFIG_DIR].some((chosen) => chosen && isBelow(folder, chosen));
    // Who works in their home, or in /, has their own cache folder below them.
    const isInProject = isBelow(folder, cwd()) && !isBelow(home, cwd());
    if (isChosen || isInProject || !isOwnAlone(folder)) return undefined;
    return join(folder, `compiled-${version}-${arch}`);
  } catch {
    // Nobody of the password database, no home, or a working directory that is gone.
    return undefined;
  }
};

/** With links followed, as far as it is there. */
function realOf(path) {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

function isBelow(path, folder) {
  const real = realOf(resolve(folder));
  return path === real || path.startsWith(real.endsWith(sep) ? real : real + sep);
}

/** Whether nobody but the user and root can change the folder, or put another in its place. What is not there yet is. */
function isOwnAlone(folder) {
  if (!process.getuid) return true;
  for (let path = folder; ; path = dirname(path)) {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat) {
      const isOwn = stat.uid === process.getuid() || (stat.uid === 0 && path !== folder);
      // In a sticky folder, such as /tmp, nobody replaces what belongs to another.
      const isOpen = (stat.mode & 0o022) !== 0 && (stat.mode & 0o1000) === 0;
      if (!isOwn || isOpen) return false;
    }
    if (path === dirname(path)) return true;
  }
}

/** The chunks in a folder, with the compiled code that `store` keeps. */
exports.chunksIn = (folder, store) => {
  const read = (name) => {
    const filename = join(folder, name);
    const source = readFileSync(filename);
    return { source, filename, code: store?.codeOf(name, source) };
  };
  // bin/svc.js has asked Node for the chunks that answer at once.
  const loaded = (name) => require.cache[join(folder, name)];
  return exports.chunkLoader(read, require, { compiled: store?.compiled, loaded });
};

/** Before the index: a mark, the format, and twice the index's length. */
const head = { bytes: 16, mark: 'svc\n', format: 3 };
const largestIndex = 1024 * 1024;

/**
 * Compiled code in one file of the user's own cache folder, each with the source that it was made of. V8 itself judges
 * whether code is of this V8, but of the source it looks at the length alone, so the whole source is compared: that
 * is quicker than a digest, and certain. What a disk has damaged V8 does not find, so the code and the index stand there
 * twice and are compared: Node's checksums come with its compression and its streams, which take longer to load. Who may
 * write there at all is `storePath`'s to judge. Whatever is wrong with the file, or with the folder, the chunks are compiled
 * as if there were none; a run never fails or warns for it.
 */
exports.openStore = (path, folder) => {
  const { file, parts } = openParts(path);
  const used = new Map();
  return {
    codeOf(name, source) {
      const part = Object.hasOwn(parts, name) ? parts[name] : undefined;
      const kept = part && part.from === source.length ? slice(file, part) : undefined;
      const code = kept?.source.equals(source) ? kept.code : undefined;
      used.set(name, { source, isNew: code === undefined, refusedBy: undefined, script: undefined });
      return code;
    },
    compiled(name, script) {
      const one = used.get(name);
      if (script.cachedDataRejected) one.refusedBy = flagsNow();
      one.script = script;
    },
    /**
     * When the run is over: by then V8 has compiled the functions that were called, too. Those of the chunks that were
     * kept already as well, since a command that is new calls others of them.
     */
    save() {
      const loaded = [...used].filter(([, { script }]) => script);
      // What this run refused under flags of its own, the next one takes: by now they are as they were.
      if (!loaded.some(([, { isNew, refusedBy }]) => isNew || (refusedBy !== undefined && refusedBy === flagsNow())))
        return closed(file);
      const kept = {};
      for (const [name, part] of Object.entries(parts)) {
        const one = used.get(name)?.script ? undefined : slice(file, part);
        if (one) kept[name] = one;
      }
      closed(file);
      for (const [name, { script, source }] of loaded) kept[name] = { source, code: script.createCachedData() };
      require('./keep.js').keep(path, folder, kept);
    },
  };
};

/** A number for this V8 and its flags as they are now. */
const flagsNow = () => process.getBuiltinModule('node:v8').cachedDataVersionTag();

/** The open file and its index; no parts where it is not there, not ours, or not whole. */
function openParts(path) {
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
    const [format, length, again] = [4, 8, 12].map((at) => top.readUInt32LE(at));
    const isKnown = top.latin1Slice(0, 4) === head.mark && format === head.format;
    if (!isKnown || length !== again || length > largestIndex) return closed(file, none);
    const index = readTwice(file, { at: head.bytes, length, more: 0 });
    return index ? { file, parts: Object(JSON.parse(index.once.latin1Slice())) } : closed(file, none);
  } catch {
    return closed(file, none);
  }
}

function closed(file, value) {
  if (file !== undefined) closeSync(file);
  return value;
}

/** The code comes first: V8 copies what does not begin where memory does. */
function slice(file, { at, length, from }) {
  try {
    const read = readTwice(file, { at, length, more: from });
    return read && { code: read.once, source: read.more };
  } catch {
    return undefined;
  }
}

/** What stands there twice, and what follows it; undefined where one is not like the other, or not all of it is there. */
function readTwice(file, { at, length, more }) {
  const all = Buffer.allocUnsafeSlow(2 * length + more);
  if (readSync(file, all, 0, all.length, at) !== all.length) return undefined;
  const once = all.subarray(0, length);
  return once.equals(all.subarray(length, 2 * length)) ? { once, more: all.subarray(2 * length) } : undefined;
}

exports.head = head;
exports.wrapped = wrapped;
