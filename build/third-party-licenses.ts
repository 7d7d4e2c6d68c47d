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
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: licenceFile(libraries) });
    this.emitFile({ type: 'asset', fileName: 'sbom.cdx.json', source: billOfMaterials(libraries) });
  },
});

/** Libraries of one author often say the same, word for word; it stands once, below their names. */
function licenceFile(libraries: readonly Library[]): string {
  const byText = new Map<string, string[]>();
  for (const { name, version, license, texts } of libraries) {
    const text = texts.map((one) => `${one}\n`).join('\n');
    byText.set(text, [...(byText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const line = '='.repeat(80);
  return [...byText].map(([text, names]) => `${line}\n${names.join('\n')}\n${line}\n\n${text}`).join('\n');
}
