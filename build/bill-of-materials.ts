import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Library } from './libraries.ts';

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

/** CycloneDX 1.6. Nothing in it tells when or where it was made, so that the same source gives the same file. */
export function billOfMaterials(libraries: readonly Library[]): string {
  const svc: Manifest = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8'));
  const bundled = libraries.map(({ name, version, license, description }) => ({
    ...component('library', name, version),
    description,
    scope: 'required',
    licenses: licensesOf(license),
  }));
  // Installed beside svc by npm where there is one for the platform; the executables do without.
  const optional = Object.entries(svc.optionalDependencies).map(([name, version]) => ({
    ...component('library', name, version),
    scope: 'optional',
  }));
  const components = [...bundled, ...optional];
  const own = component('application', svc.name, svc.version);
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...own, description: svc.description, licenses: licensesOf(svc.license) } },
    components,
    dependencies: [
      { ref: own['bom-ref'], dependsOn: components.map((one) => one['bom-ref']) },
      ...components.map((one) => ({ ref: one['bom-ref'] })),
    ],
  };
  return `${JSON.stringify(bill)}\n`;
}

function component(type: 'application' | 'library', name: string, version: string) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, purl };
}

/** An id of SPDX alone, or an expression such as `(MIT OR Apache-2.0)`. */
const licensesOf = (license: string) =>
  / (?:AND|OR|WITH) /u.test(license) ? [{ expression: license }] : [{ license: { id: license } }];
