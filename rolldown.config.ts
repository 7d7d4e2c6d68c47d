import { defineConfig } from 'rolldown';

/**
 * CommonJS in split chunks: measured faster to start than ES modules, and a command loads only what it uses.
 * The keyring's native part stays outside; it is the one runtime dependency, and optional.
 */
export default defineConfig({
  input: { main: 'src/main.ts' },
  platform: 'node',
  external: [/^node:/u, '@napi-rs/keyring'],
  output: {
    dir: 'dist',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name]-[hash].cjs',
    cleanDir: true,
  },
});
