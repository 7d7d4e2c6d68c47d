import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const project = join(import.meta.dirname, '..');

/**
 * Lays out the package as it is shipped, from a build (bin/ and dist/) into an empty folder. npm installs manual pages
 * only where the manifest names each, and nobody wants to keep a hundred names by hand.
 */
export function stagePackage(built, folder) {
  // Without what only a checkout has: npm would warn of `prepare`, which a package never runs.
  const { scripts, devDependencies, overrides, ...manifest } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  );
  // npm takes the last two without being told.
  for (const name of [...manifest.files, 'README.md', 'LICENSE']) {
    const from = ['bin', 'dist'].includes(name) ? built : project;
    cpSync(join(from, name), join(folder, name), { recursive: true });
  }
  const man = readdirSync(join(folder, 'dist', 'man')).map((name) => {
    const page = join(folder, 'dist', 'man', name);
    writeFileSync(`${page}.gz`, gzipSync(readFileSync(page), { level: 9 }));
    rmSync(page);
    return `dist/man/${name}.gz`;
  });
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, man }, null, 2)}\n`);
  return folder;
}
