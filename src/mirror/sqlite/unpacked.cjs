/** SQLite as WebAssembly, where the build has packed it; the library reads what its own package holds otherwise. */
module.exports = { wasm: undefined };
