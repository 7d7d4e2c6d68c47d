import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { defineConfig } from 'rolldown';

/**
 * CommonJS in split chunks: measured faster to start than ES modules, and a command loads only what it uses.
 * The keyring's native part stays outside; it is the one runtime dependency, and optional.
 */
export default defineConfig({
  input: { quick: 'src/quick.ts', main: 'src/main.ts', 'context-node': 'src/context-node.ts' },
  platform: 'node',
  external: [/^node:/u, '@napi-rs/keyring'],
  plugins: [
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
        this.emitFile({ type: 'asset', fileName: 'jq.wasm', source });
      },
    },
  ],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    cleanDir: true,
  },
});
