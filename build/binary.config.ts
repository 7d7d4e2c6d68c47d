import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig, type Plugin } from 'rolldown';
import { jqWasm, minify, reading, sqliteWasm } from './plugins.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const { resolve } = createRequire(import.meta.url);
const jqWeb = dirname(resolve('jq-web/jq.wasm'));
const sqlite = dirname(dirname(resolve('node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm')));
const output = { dir: 'binary/parts', format: 'cjs', codeSplitting: false, minify } as const;

/** Puts something else in one place of one file; an error where the place is not there any more. */
function replacing(name: string, file: RegExp, [from, to]: readonly [string, string]): Plugin {
  let isDone = false;
  return {
    name,
    transform(code, id) {
      if (!file.test(id.replaceAll('\\', '/'))) return null;
      const replaced = code.replace(from, () => to);
      if (replaced === code) throw new Error(`${name}: ${id} does not hold ${from}`);
      isDone = true;
      return replaced;
    },
    buildEnd() {
      if (!isDone) throw new Error(`${name}: no file is named like ${file}`);
    },
  };
}

/** One script, which is all that a single executable of Node can hold; other files are carried as assets. */
export default defineConfig([
  {
    input: 'build/binary-entry.ts',
    platform: 'node',
    external: ['@napi-rs/keyring', 'pg-native'],
    plugins: [
      ...reading,
      thirdPartyLicenses(jqWeb, sqlite),
      // There is no file that a thread could be started from, and a thread cannot ask for the assets everywhere.
      replacing('jq-worker-asset', /src\/output\/jq-thread\.ts$/u, [
        "new Worker(new URL('./jq-worker.cjs', import.meta.url), { execArgv: [] })",
        `new Worker(process.getBuiltinModule('node:sea').getAsset('jq-worker.cjs', 'utf8'), {
          eval: true,
          execArgv: [],
          workerData: process.getBuiltinModule('node:sea').getAsset('jq.wasm'),
        })`,
      ]),
      replacing('sqlite-worker-asset', /src\/mirror\/sqlite-thread\.ts$/u, [
        "new Worker(new URL('./sqlite-worker.cjs', import.meta.url), { execArgv: [], resourceLimits })",
        `new Worker(process.getBuiltinModule('node:sea').getAsset('sqlite-worker.cjs', 'utf8'), {
          eval: true,
          execArgv: [],
          resourceLimits,
          workerData: { wasm: process.getBuiltinModule('node:sea').getAsset('node-sqlite3-wasm.wasm') },
        })`,
      ]),
    ],
    output: { ...output, entryFileNames: 'svc.cjs', cleanDir: true },
  },
  {
    input: 'src/output/jq-worker.cjs',
    platform: 'node',
    plugins: [
      replacing('jq-wasm-asset', /jq-web\/jq\.js$/u, [
        "var wasmBinary = Module['wasmBinary'];",
        "var wasmBinary = require('node:worker_threads').workerData;",
      ]),
      {
        name: 'jq-wasm',
        writeBundle({ dir = '' }) {
          writeFileSync(join(dir, 'jq.wasm'), jqWasm());
        },
      },
    ],
    output: { ...output, entryFileNames: 'jq-worker.cjs', cleanDir: false },
  },
  {
    input: 'src/mirror/sqlite-worker.cjs',
    platform: 'node',
    plugins: [
      replacing('sqlite-wasm-asset', /node-sqlite3-wasm\.js$/u, [
        'var wasmBinary;',
        "var wasmBinary = require('node:worker_threads').workerData.wasm;",
      ]),
      {
        name: 'sqlite-wasm',
        writeBundle({ dir = '' }) {
          writeFileSync(join(dir, 'node-sqlite3-wasm.wasm'), sqliteWasm());
        },
      },
    ],
    output: { ...output, entryFileNames: 'sqlite-worker.cjs', cleanDir: false },
  },
]);
