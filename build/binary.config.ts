import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'rolldown';
import { jqWasm, minify, reading } from './plugins.ts';
import { thirdPartyLicenses } from './third-party-licenses.ts';

/** One script, which is all that a single executable of Node can hold; other files are carried as assets. */
export default defineConfig({
  input: 'build/binary-entry.ts',
  platform: 'node',
  external: ['@napi-rs/keyring'],
  plugins: [
    ...reading,
    thirdPartyLicenses(),
    {
      // There is no file beside the script that jq-web could read its WebAssembly from.
      name: 'jq-wasm-asset',
      transform(code, id) {
        if (!/jq-web\/jq\.js$/u.test(id.replaceAll('\\', '/'))) return null;
        const carried = "var wasmBinary = process.getBuiltinModule('node:sea').getRawAsset('jq.wasm');";
        const replaced = code.replace("var wasmBinary = Module['wasmBinary'];", carried);
        if (replaced === code) throw new Error('jq-web takes its WebAssembly in another way now');
        return replaced;
      },
      writeBundle({ dir = '' }) {
        writeFileSync(join(dir, 'jq.wasm'), jqWasm());
      },
    },
  ],
  output: {
    dir: 'binary/parts',
    entryFileNames: 'svc.cjs',
    format: 'cjs',
    cleanDir: true,
    codeSplitting: false,
    minify,
  },
});
