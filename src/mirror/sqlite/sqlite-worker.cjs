// SQLite in a thread of its own: a query that runs for ever holds up this thread alone, and the thread can be ended.
//
// The library reaches the disk through node:fs, which each thread has for itself; here it is replaced, and svc's own lock
// (sqlite.ts) is held around every transaction. That gives what the library lacks:
// - its lock is a folder FILE.lock that a killed process leaves behind: there is none;
// - it takes its own lock for a writer at work, so it never undoes what a killed process left half done: now it does;
// - its journal could be read by others, and its folder entry was not synced;
// - a process that stood still and lost svc's lock writes nothing more;
// - the journal goes by a name of svc's own: without locks of the operating system another program, which only reads the
//   file, would take a live one for what a killed process left, and roll the database back under svc's hands;
// - a query of the user reaches no other file, whatever it attaches or vacuums into, and writes nothing.
const fs = require('node:fs');
const { dirname } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { parentPort } = require('node:worker_threads');

/** Told with `open`: the thread starts before it is known which file is meant. */
let path = '';
let readOnly = true;
/** Where the library believes its journal to be, and where it is. */
let journal = '';
let undo = '';
const used = ['access', 'close', 'exists', 'fsync', 'ftruncate', 'open', 'read', 'stat', 'unlink', 'write'];
// Not all of it: that would load what is behind its getters.
const real = Object.fromEntries(used.map((name) => [`${name}Sync`, fs[`${name}Sync`]]));
let lastError;

/** The library makes one error of all: the reason is kept for the message. */
const noting =
  (work) =>
  (...given) => {
    try {
      return work(...given);
    } catch (error) {
      if (error.code !== 'ENOENT') lastError = error.code;
      throw error;
    }
  };
const absent = (file) => Object.assign(new Error(`ENOENT: ${file}`), { code: 'ENOENT' });

fs.mkdirSync = () => {};
fs.rmdirSync = () => {};
const ownName = (file) => (file === journal ? undo : file);
fs.accessSync = (file, mode) => {
  if (file === `${path}.lock`) throw absent(file);
  return real.accessSync(ownName(file), mode);
};
fs.openSync = noting((named, flags, mode) => {
  const file = ownName(named);
  if (/\.wasm(?:\.gz)?$/u.test(file) || (file === dirname(path) && flags === 'r'))
    return real.openSync(file, flags, mode);
  if (file !== path && file !== undo && file !== `${path}-wal`)
    throw Object.assign(new Error('refused'), { code: 'EACCES' });
  if (file === undo && !readOnly) ownJournal();
  const isNew = !readOnly && !real.existsSync(file);
  const fd = real.openSync(file, readOnly ? 'r' : flags, 0o600);
  if (isNew) syncFolder();
  return fd;
});
for (const name of ['fsyncSync', 'readSync']) fs[name] = noting(real[name]);
fs.ftruncateSync = noting((...given) => {
  mustBeOurs();
  return real.ftruncateSync(...given);
});
// On a disk that is almost full a write is cut short; only the next one says why.
fs.writeSync = noting((fd, bytes, at, length, position) => {
  let done = 0;
  while (done < length) {
    mustBeOurs();
    done += real.writeSync(fd, bytes, at + done, length - done, position + done);
  }
  return done;
});
fs.unlinkSync = noting((file) => {
  mustBeOurs();
  real.unlinkSync(ownName(file));
});

/**
 * An empty journal may be open in a process that stood still and lost the lock. What it would still write into it must not
 * stand in ours: each transaction has a file of its own.
 */
function ownJournal() {
  looked = { wall: 0, ticks: 0 };
  mustBeOurs();
  if (real.statSync(undo, { throwIfNoEntry: false })?.size === 0) real.unlinkSync(undo);
}

/** Of svc's own lock, told with `open` and `exec`: while it is there the lock is ours. */
let entry;
/** By both clocks: one stands still while the machine sleeps, and the other may be set. */
let looked = { wall: 0, ticks: 0 };
const betweenLooksMs = 20;

function mustBeOurs() {
  const [wall, ticks] = [Date.now(), performance.now()];
  if (Math.abs(wall - looked.wall) < betweenLooksMs && ticks - looked.ticks < betweenLooksMs) return;
  if (entry !== undefined && !real.existsSync(entry)) throw Object.assign(new Error('lost'), { code: 'ELOST' });
  looked = { wall, ticks };
}

function syncFolder() {
  if (process.platform === 'win32') return;
  const fd = real.openSync(dirname(path), 'r');
  try {
    real.fsyncSync(fd);
  } finally {
    real.closeSync(fd);
  }
}

const { oneStatement } = require('./one-statement.cjs');
const { percentilesOf, withMemory } = require('./percentile.cjs');
const unpacked = require('./unpacked.cjs');
// What the library needs, loaded while the command still is, too.
require('node:crypto');

/** Loaded with the first file, for V8's flags hold then. */
let loaded;
let addPercentiles;

/**
 * A question takes less time than to optimise SQLite for it; a long pull gains a tenth, and takes 40 MB more. SQLite comes
 * with svc, and of its functions a question uses one in ten. A later Node may not know the flags, and would complain.
 */
const flags =
  Number(process.versions.node.split('.')[0]) > 24
    ? []
    : ['wasm-tier-up', 'wasm-dynamic-tiering', 'no-wasm-lazy-validation'];
const without = flags.map((flag) => (flag.startsWith('no-') ? `--${flag.slice(3)}` : `--no-${flag}`));

/**
 * The flags are the whole process's, and under other flags V8 takes no code that was kept, neither of Node nor of svc
 * (bin/chunks.js): so they hold only while SQLite works, when the rest of svc waits for it and loads nothing.
 */
function unoptimised(work) {
  for (const flag of without) setFlagsFromString(flag);
  try {
    return work();
  } finally {
    for (const flag of flags) setFlagsFromString(`--${flag}`);
  }
}

let db;
let open;
const kept = new Map();

const statements = {
  open({ path: named, readOnly: isReadOnly, isWal }) {
    loaded ??= withMemory(() => require('node-sqlite3-wasm'));
    path = named;
    readOnly = isReadOnly;
    journal = `${path}-journal`;
    undo = `${path}.undo`;
    db = new loaded.library.Database(path, { readOnly });
    // What the other engine left: taken in whole, since this one can use a write-ahead log only while it is alone.
    if (isWal) db.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = TRUNCATE; PRAGMA locking_mode = NORMAL');
    db.exec('PRAGMA cache_size = -4000; PRAGMA foreign_keys = OFF; SELECT count(*) FROM sqlite_schema');
  },
  /** Once it is known that the file is svc's. */
  settle() {
    db.exec('PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL');
  },
  run({ text, values }) {
    prepared(text).run(values);
  },
  all({ text, values }) {
    return prepared(text).all(values).map(plainRow);
  },
  exec({ text }) {
    db.exec(text);
  },
  /** Begins a query of the user; its columns, in their order. */
  query({ text, views }) {
    for (const { name, text: query } of views) db.exec(`CREATE TEMP VIEW "${name}" AS ${query}`);
    if (/median|percentile/iu.test(text)) {
      addPercentiles ??= percentilesOf(loaded);
      addPercentiles(db);
    }
    const alone = oneStatement(text, (each) => db.prepare(each).finalize());
    // Only a query can be a view: the engine itself refuses everything else here.
    db.exec(`CREATE TEMP VIEW svc_query AS ${alone}`);
    const columns = db.all("SELECT name FROM pragma_table_info('svc_query')").map(({ name }) => name);
    const names = columns.map((_, at) => `c${at}`);
    const statement = db.prepare(alone);
    // The library sets each value under the column's own name: of two with one name one is lost, and the view, which tells
    // them apart, may name others. By their places none is.
    statement._getColumnNames = () => names;
    open = { statement, rows: statement.iterate(), names };
    return columns;
  },
  next({ most }) {
    const rows = [];
    while (rows.length < most) {
      const { done, value } = open.rows.next();
      if (done) return { rows, done };
      rows.push(open.names.map((name) => plain(value[name])));
    }
    return { rows, done: false };
  },
  /** The next file may be another: nothing of this one stays. */
  close() {
    open?.statement.finalize();
    open = undefined;
    for (const statement of kept.values()) statement.finalize();
    kept.clear();
    db?.close();
    db = undefined;
    entry = undefined;
  },
};

/** Statements of a pull come again and again, with a hundred sizes at most. */
function prepared(text) {
  let statement = kept.get(text);
  if (!statement) {
    if (kept.size >= 32) {
      const [[oldest, first]] = kept;
      first.finalize();
      kept.delete(oldest);
    }
    statement = db.prepare(text);
    kept.set(text, statement);
  }
  return statement;
}

const plainRow = (row) => {
  for (const name in row) row[name] = plain(row[name]);
  return row;
};

function plain(value) {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}

function answer({ id, work, ...given }) {
  lastError = undefined;
  if (given.entry !== undefined && given.entry !== entry) {
    entry = given.entry;
    looked = { wall: 0, ticks: 0 };
  }
  try {
    parentPort.postMessage({ id, value: unoptimised(() => statements[work](given)) });
  } catch (error) {
    parentPort.postMessage({ id, error: error.message, code: lastError });
  }
}

parentPort.once('message', (wasm) => {
  unpacked.wasm = wasm;
  parentPort.on('message', answer);
});
