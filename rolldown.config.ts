import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { defineConfig } from 'rolldown';
import { stripWasm } from './build/strip-wasm.ts';
import { thirdPartyLicenses } from './build/third-party-licenses.ts';

const idleParts: Record<string, Record<string, string>> = {
  // For commands that are programs of their own.
  commander: { 'node:child_process': 'module.exports = {};' },
  undici: {
    // HTTP/2 is off unless asked for, and undici itself goes on without the module.
    'node:http2': 'throw new Error("no HTTP/2 here");',
    // A limit, and a class that no answer of undici is an instance of.
    'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class IncomingMessage {} };',
  },
  // A parser of style attributes; none are allowed.
  'sanitize-html': { postcss: 'module.exports = {};' },
};

/**
 * What every command loads comes in one file, and the HTTP client in another: opening a file costs a command more than
 * the bytes in it. Everything else is split by use.
 */
const together = [
  { name: 'version', test: /src\/version\.ts|[^/]+\/package\.json$/u },
  { name: 'tree', test: /src\/(commands\/index|cli\/(global-flags|topics|root-help)|errors)\.ts/u },
  { name: 'http-client', test: /src\/node\/(exchange|direct|sending)/u },
  { name: 'proxied', test: /node_modules\/undici\/|src\/node\/proxied/u },
  {
    name: 'core',
    test: new RegExp(
      [
        'node_modules/(commander|valibot)/',
        'src/settings\\.ts',
        'src/api/(operation|fields|check|shape)\\.ts',
        'src/http/(call|send|gate|limiter|request|response|retry|pages|shared-hold|user-agent)\\.ts',
        'src/auth/(session|at-hand|credentials|config-file|service-url)\\.ts',
        'src/disk/(atomic-file|lock|user-file)\\.ts',
        'src/cli/(command|param|flags|time|from-operation|body-text|clear|confirm|listing)\\.ts',
        'src/cli/(print|printing|print-data|write|paint|sanitize|fields|views)\\.ts',
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
    quick: 'src/quick.ts',
    main: 'src/main.ts',
    'context-node': 'src/context-node.ts',
    'completion-tree': 'src/cli/completion-tree.ts',
  },
  platform: 'node',
  external: ['@napi-rs/keyring'],
  plugins: [
    {
      // What a library loads for something that svc never does: milliseconds at every start, or bytes of the package.
      name: 'idle-parts',
      resolveId(source, importer = '') {
        const library = /node_modules\/(commander|undici|sanitize-html)\//u.exec(importer.replaceAll('\\', '/'))?.[1];
        const stub = library && idleParts[library]?.[source];
        return stub === undefined ? null : `\0idle:${library}:${source}`;
      },
      load(id) {
        if (!id.startsWith('\0idle:')) return null;
        const [, library = '', ...source] = id.split(':');
        return idleParts[library]?.[source.join(':')] ?? null;
      },
    },
    {
      // `import text from './page.html?raw'`: the file as it is, as vitest reads it too.
      name: 'raw-text',
      load(id) {
        if (!id.endsWith('?raw')) return null;
        const text = readFileSync(id.slice(0, -'?raw'.length), 'utf8');
        return { code: `export default ${JSON.stringify(text)}`, moduleType: 'js' };
      },
    },
    {
      // jq-web looks for its WebAssembly beside the file that it is in.
      name: 'jq-wasm',
      generateBundle() {
        const source = readFileSync(createRequire(import.meta.url).resolve('jq-web/jq.wasm'));
        this.emitFile({ type: 'asset', fileName: 'jq.wasm', source: stripWasm(source) });
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
    // Names stay as they are written, so that a stack trace that somebody reports can be read.
    minify: { compress: true, mangle: false, codegen: { removeWhitespace: true } },
    codeSplitting: { groups: [...together] },
  },
});
