import type { Plugin } from 'rolldown';
import { billOfMaterials } from './bill-of-materials.ts';
import { type Library, librariesOf } from './libraries.ts';

/**
 * Writes THIRD-PARTY-LICENSES.txt beside the bundle: the licence of every library that a chunk has code of. The
 * licences ask for it, since a bundle leaves the libraries' own files behind. And sbom.cdx.json, a bill of the same
 * libraries for programs. `bundledApart`: folders of libraries that are in another bundle of the same executable.
 */
export const thirdPartyLicenses = (...bundledApart: readonly string[]): Plugin => ({
  name: 'third-party-licenses',
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).flatMap((output) => (output.type === 'chunk' ? output.moduleIds : []));
    const libraries = librariesOf(chunks, bundledApart);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: libraries.map(show).join('\n') });
    this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: billOfMaterials(libraries) });
  },
});

const show = ({ name, version, license, texts }: Library): string =>
  [`${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n`, ...texts.map((text) => `${text}\n`)].join(
    '\n',
  );
