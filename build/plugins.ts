import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { OutputOptions, Plugin } from 'rolldown';
import { stripWasm } from './strip-wasm.ts';

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
  // Eighty spinners; the two that ora takes unless it is told another.
  ora: {
    'cli-spinners': `module.exports = {
      dots: { interval: 80, frames: [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'] },
      line: { interval: 130, frames: [...'-\\\\|/'] },
    };`,
  },
  // Judges what an assistant's user answers to a form; svc shows none.
  '@modelcontextprotocol/sdk': {
    ajv: 'module.exports = class Ajv {};',
    'ajv-formats': 'module.exports = () => {};',
  },
};

const withIdleParts = new RegExp(`node_modules/(${Object.keys(idleParts).join('|')})/`, 'u');

/** How the source is read, for the package and for the single executable alike. */
export const reading: Plugin[] = [
  {
    // What a library loads for something that svc never does: milliseconds at every start, or bytes of the package.
    name: 'idle-parts',
    resolveId(source, importer = '') {
      const library = withIdleParts.exec(importer.replaceAll('\\', '/'))?.[1];
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
];

/** Where \uXXXX is not the same as the character. */
const asItStands = /\\[^\0-\x7f]|String\.raw`[^`]*[^\0-\x7f`]/u;

/**
 * One character beyond Latin-1 makes V8 hold the whole text of a chunk in two bytes for each: twice the memory at every
 * start, and collecting it. In names, texts and regular expressions \uXXXX is the same.
 */
export const inAscii: Plugin = {
  name: 'in-ascii',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk' || asItStands.test(chunk.code)) continue;
      chunk.code = chunk.code.replaceAll(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/** An export as the bundler writes it, of something that has a name. */
const longExport =
  /Object\.defineProperty\(exports,("[\w$]+"),\{enumerable:!0,get:function\(\)\{return ([\w$]+)\}\}\)/g;

/** The same in half of the text and a third of the time: a command defines five hundred exports before it begins. */
export const shortExports: Plugin = {
  name: 'short-exports',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle))
      if (chunk.type === 'chunk') chunk.code = chunk.code.replaceAll(longExport, 'exports.__defineGetter__($1,()=>$2)');
  },
};

/** Functions keep their names, so that a stack trace that somebody reports can be read. */
export const minify: OutputOptions['minify'] = {
  compress: true,
  mangle: { keepNames: true },
  codegen: { removeWhitespace: true },
};

export const jqWasm = (): Uint8Array =>
  stripWasm(readFileSync(createRequire(import.meta.url).resolve('jq-web/jq.wasm')));

export const sqliteWasm = (): Uint8Array =>
  stripWasm(readFileSync(createRequire(import.meta.url).resolve('node-sqlite3-wasm/dist/node-sqlite3-wasm.wasm')));

/** Puts something else in one place of one file; an error where the place is not there any more. */
export function replacing(name: string, file: RegExp, [from, to]: readonly [string, string]): Plugin {
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

/** Has the library take its WebAssembly from the thread that starts it. */
export const takesUnpacked = (): Plugin =>
  replacing('unpacked-sqlite', /node-sqlite3-wasm\.js$/u, [
    'var wasmBinary;',
    `var wasmBinary = require(${JSON.stringify(join(import.meta.dirname, '..', 'src/mirror/sqlite/unpacked.cjs'))}).wasm;`,
  ]);

/** `bytes`: JavaScript that gives SQLite's WebAssembly. */
export const unpacks = (bytes: string): Plugin =>
  replacing('packed-sqlite', /src\/mirror\/sqlite\/unpack\.ts$/u, ['=> undefined', `=> ${bytes}`]);
