import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type RolldownOptions } from 'rolldown';
import {
  inAscii,
  jqWasm,
  minify,
  reading,
  replacing,
  shortExports,
  sqliteWasm,
  takesUnpacked,
  unpacks,
} from './build/plugins.ts';
import { thirdPartyLicenses } from './build/third-party-licenses.ts';

/**
 * What every command loads comes in one file, and the HTTP client in another: opening a file costs a command more than
 * the bytes in it. Everything else is split by use.
 */
const together = [
  {
    // What answers at once, and the version, which others need too.
    name: 'version',
    test: /src\/(?:version|program\/quick|disk\/place\/built-help)\.ts|[^/]+\/package\.json$/u,
  },
  { name: 'tree', test: /src\/(commands\/index|command\/global-flags|program\/(topics|root-help)|errors)\.ts/u },
  {
    // What every command needs.
    name: 'core',
    test: new RegExp(
      [
        'node_modules/commander/',
        'src/config/(settings|credential-variables|given-texts|config-file|service-url|advice|command-names)\\.ts',
        'src/program/(given|program|argv|help|waits)\\.ts',
        'src/disk/(file/atomic-file|file/open-flags|file/disk-failure|place/home|file/make-folders)\\.ts',
        'src/node/(standard-streams|environment|going|hung-up|screen-hush)\\.ts',
        'src/command/(command|param|loosen|copy-flag|flag-words)\\.ts',
        'src/mirror/(store/copy-name|sqlite/node-sqlite)\\.ts',
        'src/output/(print|sheet|records|view|write|paint|fields|cells|bare|only-notes)\\.ts',
        'src/(text/json|text/one-of|promise/(once|one-by-one|then-closed)|env|ticks)\\.ts',
        'src/text/(sanitize|shell-word|number|record|layout|capital)\\.ts',
      ].join('|'),
      'u',
    ),
  },
  { name: 'http-client', test: /src\/node\/(exchange|direct|lines|sending|decode)/u },
  // Before what is behind it: a group takes along what its files import.
  { name: 'v8-flags', test: /src\/v8-flags\.ts/u },
  { name: 'proxied', test: /node_modules\/undici\/|src\/node\/proxied/u },
  // Whose login is meant, which the inbox says before anything asks the service.
  { name: 'at-hand', test: /src\/(?:auth\/(?:at-hand|credentials)|text\/(?:near|full-name)|api\/operation)\.ts/u },
  {
    // What a command needs that asks the service.
    name: 'service',
    test: new RegExp(
      [
        'node_modules/valibot/',
        'src/(as-read|api/(fields|check|shape|fit))\\.ts',
        'src/http/\\w+/(call|send|asking|attempt|address|answer|promised|request-spec|made|gate|limiter|numbers|request|pages|sweeps|page-meta|shared-hold|service-clock|user-agent)\\.ts',
        'src/retry/',
        'src/auth/session\\.ts',
        'src/command/(flags|from-operation|listing|at-most|row|named|typed-name)\\.ts',
        'src/sync/flags\\.ts',
        'src/(commands/from-file|(bulk/rows|tabular)/flags)\\.ts',
        'src/text/(json-depth|time)\\.ts',
      ].join('|'),
      'u',
    ),
  },
  {
    // What a command needs that has files which others may be at, too.
    name: 'files',
    test: new RegExp(
      [
        'src/disk/lock/(lock|lock-entry|lock-hold|lock-silence)\\.ts',
        'src/disk/file/(folder|file-head|nothing-there|same-file)\\.ts',
        'src/disk/place/(own-files|private-data|folder-check|copy-mark)\\.ts',
        'src/disk/log/log-file\\.ts',
        'src/promise/(aborted|whether)\\.ts',
      ].join('|'),
      'u',
    ),
  },
  // Of a thread, which starts before the rest is loaded.
  { name: 'failure', test: /src\/mirror\/sqlite\/failure\.ts/u },
  // Of the thread itself too, which is to load nothing else of svc.
  { name: 'one-statement', test: /src\/mirror\/sqlite\/one-statement\.cjs/u },
  {
    // What a command needs that asks the copy.
    name: 'copy',
    test: new RegExp(
      [
        'src/mirror/store/(open-copy|account|place|state|prepare|schema-mark|has-table)\\.ts',
        'src/mirror/tables/(store|transaction|cells|contact-words)\\.ts',
        'src/mirror/sqlite/(sqlite|file|journal|locks|neighbours|ownership|query-rows|remove)\\.ts',
        'src/mirror/sqlite/(native|engine-native|engine-fixed|query-guard|interrupted)\\.ts',
        'src/mirror/query/age\\.ts',
        'src/disk/draft/spool\\.ts',
      ].join('|'),
      'u',
    ),
  },
] as const;

/** The date of the newest release in the changelog: the same for every build of a source. */
const releaseDate = (): string =>
  /^## \[[^\]]+\] - (\d{4}-\d\d-\d\d)/mu.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1] ?? '1970-01-01';

/** Reads and splits the source, for the package and for the single executable alike. */
export const bundle = {
  input: {
    quick: 'src/program/quick.ts',
    main: 'src/main.ts',
    'completion-tree': 'src/program/completion-tree.ts',
    man: 'src/program/man.ts',
  },
  platform: 'node',
  external: ['@napi-rs/keyring', 'pg-native'],
  plugins: [
    ...reading,
    inAscii,
    shortExports,
    {
      // A Tab must be answered sooner than the commands are loaded, so what it needs of them is written down here.
      name: 'completion-tree',
      async writeBundle({ dir = 'dist' }: { dir?: string }) {
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
    // Chunks are not always loaded by Node itself (bin/chunks.js), and `import()` is its own.
    dynamicImportInCjs: false,
    minify,
    codeSplitting: { groups: [...together] },
  },
} as const satisfies RolldownOptions;

/**
 * CommonJS in split chunks: measured faster to start than ES modules, and a command loads only what it uses.
 * The keyring's native part stays outside; it is the one runtime dependency, and optional.
 */
export default defineConfig({
  ...bundle,
  // Started as threads, by these names.
  input: {
    ...bundle.input,
    'jq-worker': 'src/output/jq-worker.cjs',
    'sqlite-worker': 'src/mirror/sqlite/sqlite-worker.cjs',
  },
  plugins: [
    ...bundle.plugins,
    {
      name: 'help-and-man-pages',
      async writeBundle({ dir = 'dist' }) {
        const { manPages, rootHelp } = createRequire(import.meta.url)(resolve(dir, 'man.cjs'));
        mkdirSync(resolve(dir, 'man'));
        for (const [name, page] of await manPages(releaseDate())) writeFileSync(resolve(dir, 'man', name), page);
        for (const width of [80, 120]) writeFileSync(resolve(dir, `help-${width}.txt`), rootHelp(width));
      },
    },
    // A third of the size, for a few milliseconds of those who filter or ask the copy.
    replacing('packed-jq', /jq-web\/jq\.js$/u, [
      "var wasmBinary = Module['wasmBinary'];",
      "var wasmBinary = require('node:zlib').gunzipSync(fs.readFileSync(__dirname + '/jq.wasm.gz'));",
    ]),
    takesUnpacked(),
    // In one piece: as zlib has it by itself, it takes half as long again.
    unpacks(
      "process.getBuiltinModule('node:zlib').gunzipSync(process.getBuiltinModule('node:fs').readFileSync(new URL('./node-sqlite3-wasm.wasm.gz', import.meta.url)), { chunkSize: 2 ** 21 })",
    ),
    {
      // WebAssembly lies beside the file that reads it.
      name: 'wasm',
      generateBundle() {
        this.emitFile({ type: 'asset', fileName: 'jq.wasm.gz', source: gzipSync(jqWasm(), { level: 9 }) });
        this.emitFile({
          type: 'asset',
          fileName: 'node-sqlite3-wasm.wasm.gz',
          source: gzipSync(sqliteWasm(), { level: 9 }),
        });
      },
    },
    thirdPartyLicenses(),
  ],
});
