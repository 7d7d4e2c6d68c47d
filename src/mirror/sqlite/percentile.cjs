// median(x) and percentile(x, p) for SQLite as WebAssembly, as SQLite's own percentile extension has them, which that build
// leaves out (https://sqlite.org/percentile.html). The library registers functions of one row only; what SQLite itself needs
// for aggregates it exports, all but its memory.

/** As in sqlite3.h. */
const [utf8, integer, float, text, nothing] = [1, 1, 2, 3, 5];

/** Loads the library, and its memory with it. */
function withMemory(load) {
  const { Instance } = WebAssembly;
  let memory;
  WebAssembly.Instance = function noting(...given) {
    const made = new Instance(...given);
    memory ??= Object.values(made.exports).find((one) => one instanceof WebAssembly.Memory);
    return made;
  };
  try {
    const library = load();
    return { library, memory };
  } finally {
    WebAssembly.Instance = Instance;
  }
}

/** What gives a database both functions. */
function percentilesOf({ library, memory }) {
  /** The values of each group that is being read, by where SQLite will put its result. */
  const groups = new Map();
  let view = new DataView(memory.buffer);
  const wordAt = (address) => {
    // Memory that has grown is another one.
    if (view.buffer !== memory.buffer) view = new DataView(memory.buffer);
    return view.getInt32(address, true);
  };
  // sqlite3_aggregate_context is not exported. What it goes by is the third pointer of a context, `pMem`: that of the group.
  const groupOf = (context) => wordAt(context + 8);
  const withBytes = (said, work) => {
    const bytes = Buffer.from(said);
    const at = library._malloc(bytes.length);
    new Uint8Array(memory.buffer).set(bytes, at);
    work(at, bytes.length);
    library._free(at);
  };
  const fail = (context, said) => withBytes(said, (at, length) => library._sqlite3_result_error(context, at, length));
  /** p may be a text that is a number, x may not: so it is in the extension. */
  const shareOf = (value) => {
    const type = library._sqlite3_value_type(value);
    if (type === text ? !isNumeric(textAt(value)) : type !== integer && type !== float) return Number.NaN;
    return library._sqlite3_value_double(value) / 100;
  };
  const textAt = (value) => {
    const at = library._sqlite3_value_text(value);
    return Buffer.from(memory.buffer, at, library._sqlite3_value_bytes(value)).toString();
  };
  const take = (name, context, { share, value }) => {
    if (!(share >= 0 && share <= 1)) {
      return fail(context, `the fraction argument to ${name}() is not between 0.0 and 100.0`);
    }
    const at = groupOf(context);
    const group = groups.get(at) ?? { share, numbers: [] };
    groups.set(at, group);
    if (Math.abs(group.share - share) > 0.001) {
      return fail(context, `the fraction argument to ${name}() is not the same for all input rows`);
    }
    const type = library._sqlite3_value_type(value);
    if (type === nothing) return;
    if (type !== integer && type !== float) return fail(context, `input to ${name}() is not numeric`);
    const number = library._sqlite3_value_double(value);
    if (!Number.isFinite(number)) return fail(context, `Inf input to ${name}()`);
    group.numbers.push(number);
  };
  const end = (context) => {
    const at = groupOf(context);
    const group = groups.get(at);
    groups.delete(at);
    if (!group || group.numbers.length === 0) return library._sqlite3_result_null(context);
    library._sqlite3_result_double(context, percentile(group));
  };
  const ending = library.addFunction(end, 'vi');
  const functions = [
    {
      name: 'median',
      count: 1,
      step: (context, _, values) => take('median', context, { share: 0.5, value: wordAt(values) }),
    },
    {
      name: 'percentile',
      count: 2,
      step: (context, _, values) =>
        take('percentile', context, { share: shareOf(wordAt(values + 4)), value: wordAt(values) }),
    },
  ].map((each) => ({ ...each, step: library.addFunction(each.step, 'viii') }));

  return (db) => {
    // Of a query that ended in the middle: SQLite does not tell.
    groups.clear();
    for (const { name, count, step } of functions) {
      withBytes(`${name}\0`, (at) =>
        library._sqlite3_create_function_v2(db._ptr, at, count, utf8, 0, 0, step, ending, 0),
      );
    }
  };
}

const isNumeric = (given) => /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/iu.test(given);

/** Between the two values next to that place, where there is none. */
function percentile({ share, numbers }) {
  const sorted = Float64Array.from(numbers).sort();
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const high = place === low ? low : Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (place - low);
}

module.exports = { withMemory, percentilesOf };
