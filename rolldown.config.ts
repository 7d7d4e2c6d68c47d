import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { defineConfig } from 'rolldown';
import { jqWasm, minify, reading, sqliteWasm } from './build/plugins.ts';
import { thirdPartyLicenses } from './build/third-party-licenses.ts';

/**
 * What every command loads comes in one file, and the HTTP client in another: opening a file costs a command more than
 * the bytes in it. Everything else is split by use.
 */
const together = [
  { name: 'version', test: /src\/version\.ts|[^/]+\/package\.json$/u },
  { name: 'tree', test: /src\/(commands\/index|program\/(global-flags|topics|root-help)|errors)\.ts/u },
  { name: 'http-client', test: /src\/node\/(exchange|direct|sending|decode)/u },
  { name: 'proxied', test: /node_modules\/undici\/|src\/node\/proxied/u },
  {
    name: 'core',
    test: new RegExp(
      [
        'node_modules/(commander|valibot)/',
        'src/config/(settings|config-file|service-url|advice|command-names)\\.ts',
        'src/program/given\\.ts',
        'src/api/(operation|fields|check|shape|fit)\\.ts',
        'src/http/(call|send|asking|attempt|answer|gate|limiter|request|response|pages|shared-hold|user-agent)\\.ts',
        'src/retry/',
        'src/auth/(session|at-hand|credentials)\\.ts',
        'src/disk/(atomic-file|user-file)\\.ts',
        'src/command/(command|param|flags|from-operation|body-text|clear|confirm|listing|seed)\\.ts',
        'src/output/(print|sheet|records|write|paint|fields|cells)\\.ts',
        'src/text/(sanitize|time|json-depth|near|shell-word|number)\\.ts',
      ].join('|'),
      'u',
    ),
  },
] as const;

/**
 * CommonJS in split chunks: measured faster to start than ES modules, and a command loads only what it uses.
 * The keyring's native part stays outside; it is the one runtime dependency, and optional.
 */
export default defineConfig({
  input: {
    quick: 'src/program/quick.ts',
    main: 'src/main.ts',
    'context-node': 'src/node/context.ts',
    'completion-tree': 'src/program/completion-tree.ts',
    // Started as threads, by these names.
    'jq-worker': 'src/output/jq-worker.cjs',
    'sqlite-worker': 'src/mirror/sqlite-worker.cjs',
  },
  platform: 'node',
  external: ['@napi-rs/keyring', 'pg-native'],
  plugins: [
    ...reading,
    {
      // jq-web and node-sqlite3-wasm look for their WebAssembly beside the file that they are in.
      name: 'wasm',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'jq.wasm', source: jqWasm() });
        this.emitFile({ type: 'asset', fileName: 'node-sqlite3-wasm.wasm', source: sqliteWasm() });
      },
    },
    thirdPartyLicenses(),
    {
      // A Tab must be answered sooner than the commands are loaded, so what it needs of them is written down here.
      name: 'completion-tree',
      async writeBundle({ dir = 'dist' }) {
        const { completionTree } = createRequire(import.meta.url)(resolve(dir, 'completion-tree.cjs'));
        writeFileSync(resolve(dir, 'completion-tree.json'), JSON.stringify(await completionTree()));
      },
    },
  ],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    cleanDir: true,
    minify,
    codeSplitting: { groups: [...together] },
  },
});
