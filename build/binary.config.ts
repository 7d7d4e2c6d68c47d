import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineConfig } from 'rolldown';
import { bundle } from '../rolldown.config.ts';
import { jqWasm, minify, replacing, sqliteWasm, takesUnpacked, unpacks } from './plugins.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

const { resolve } = createRequire(import.meta.url);
const jqWeb = dirname(resolve('jq-web/jq.wasm'));
const sqlite = dirname(dirname(resolve('node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm')));
const project = dirname(import.meta.dirname);
const output = { dir: 'binary/parts', format: 'cjs', minify } as const;

/**
 * The parts of the single executable: the script that it starts, and as assets the chunks of the package and whatever
 * they read beside themselves.
 */
export default defineConfig([
  {
    ...bundle,
    plugins: [
      ...bundle.plugins,
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
      replacing('completion-tree-asset', /src\/program\/completion\.ts$/u, [
        "readJson(() => new URL('./completion-tree.json', import.meta.url))",
        "JSON.parse(process.getBuiltinModule('node:sea').getAsset('completion-tree.json', 'utf8'))",
      ]),
      replacing('sqlite-worker-asset', /src\/mirror\/sqlite\/thread\.ts$/u, [
        "new Worker(new URL('./sqlite-worker.cjs', import.meta.url), { execArgv: [], resourceLimits })",
        `new Worker(process.getBuiltinModule('node:sea').getAsset('sqlite-worker.cjs', 'utf8'), {
          eval: true,
          execArgv: [],
          resourceLimits,
        })`,
      ]),
      unpacks("new Uint8Array(process.getBuiltinModule('node:sea').getAsset('node-sqlite3-wasm.wasm'))"),
    ],
    output: { ...bundle.output, ...output, cleanDir: true },
  },
  {
    input: 'build/binary-entry.cjs',
    platform: 'node',
    plugins: [
      {
        name: 'chunks-are-assets',
        resolveId(source, importer = '') {
          const isOfSvc = importer === join(project, 'bin', 'svc.js');
          return isOfSvc && /^\.\.?\/(?:dist\/quick\.cjs|chunks\.js)$/u.test(source)
            ? join(import.meta.dirname, 'binary-chunks.cjs')
            : null;
        },
      },
    ],
    external: [/keep\.js$/u],
    output: { ...output, codeSplitting: false, entryFileNames: 'entry.js', cleanDir: false },
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
    output: { ...output, codeSplitting: false, entryFileNames: 'jq-worker.cjs', cleanDir: false },
  },
  {
    input: 'src/mirror/sqlite/sqlite-worker.cjs',
    platform: 'node',
    plugins: [
      takesUnpacked(),
      {
        name: 'sqlite-wasm',
        writeBundle({ dir = '' }) {
          writeFileSync(join(dir, 'node-sqlite3-wasm.wasm'), sqliteWasm());
        },
      },
    ],
    output: { ...output, codeSplitting: false, entryFileNames: 'sqlite-worker.cjs', cleanDir: false },
  },
]);
