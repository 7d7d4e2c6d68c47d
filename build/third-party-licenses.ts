import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

type Library = {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** What its licence files say; a library without one names its licence in the manifest alone. */
  readonly texts: readonly string[];
};

/**
 * Writes THIRD-PARTY-LICENSES.txt beside the bundle: the licence of every library that a chunk has code of. The
 * licences ask for it, since a bundle leaves the libraries' own files behind. `bundledApart`: folders of libraries that
 * are in another bundle of the same executable.
 */
export const thirdPartyLicenses = (...bundledApart: readonly string[]): Plugin => ({
  name: 'third-party-licenses',
  generateBundle(_, bundle) {
    const folders = new Set(bundledApart);
    for (const output of Object.values(bundle)) {
      if (output.type !== 'chunk') continue;
      for (const id of output.moduleIds) {
        const folder = libraryFolder(id);
        if (folder) folders.add(folder);
      }
    }
    const libraries = [...folders].map(readLibrary).sort((a, b) => compare(a.name, b.name));
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: libraries.map(show).join('\n') });
  },
});

/** `…/node_modules/@scope/name` of a module within it; undefined for svc's own. */
export const libraryFolder = (moduleId: string): string | undefined =>
  /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/?]+)\//u.exec(moduleId.replaceAll('\\', '/'))?.[1];

function readLibrary(folder: string): Library {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|copying|notice)/iu.test(file));
  if (files.length === 0 && !license) throw new Error(`${name} says nothing about its licence`);
  return { name, version, license, texts: files.map((file) => readFileSync(join(folder, file), 'utf8').trim()) };
}

const show = ({ name, version, license, texts }: Library): string =>
  [`${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n`, ...texts.map((text) => `${text}\n`)].join(
    '\n',
  );

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
