/** How this svc came to be on the machine, and what brings a newer one. */
export type Installed = {
  readonly how: 'npm' | 'unpacked' | 'debian' | 'homebrew' | 'scoop' | 'executable' | 'checkout';
  /** The script or the executable, links followed. */
  readonly path: string;
  readonly update: string;
};

const updates: Readonly<Record<Installed['how'], string>> = {
  npm: 'npm install --global ./svc-VERSION.tgz',
  unpacked: 'put the newer package in its place',
  debian: 'sudo apt install ./svc_VERSION_ARCH.deb',
  homebrew: 'brew upgrade svc',
  scoop: 'scoop update svc',
  executable: 'put the newer executable in its place',
  checkout: 'git pull && npm ci',
};

/** `path`: with forward slashes or backslashes. `hasSource`: the project lies around it. `isKnownToDpkg`: as a file of it. */
export function howInstalled(
  path: string,
  { isExecutable, hasSource, isKnownToDpkg }: Readonly<Record<'isExecutable' | 'hasSource' | 'isKnownToDpkg', boolean>>,
): Installed['how'] {
  const place = path.replaceAll('\\', '/');
  if (place.includes('/Cellar/svc/')) return 'homebrew';
  if (place.includes('/scoop/apps/svc/')) return 'scoop';
  if (isExecutable) return isKnownToDpkg ? 'debian' : 'executable';
  if (hasSource) return 'checkout';
  return place.includes('/node_modules/') ? 'npm' : 'unpacked';
}

/** How this svc is typed where no `svc` is on the PATH yet: in its checkout, by its script. `script`: as Node was given it. */
export const typedAs = ({ how, path }: Pick<Installed, 'how' | 'path'>, script: string): string =>
  how === 'checkout' && /[\\/]svc\.js$/u.test(script) ? `node ${path}` : 'svc';

export function installed(): Installed {
  const { isSea } = process.getBuiltinModule('node:sea');
  const { existsSync, realpathSync } = process.getBuiltinModule('node:fs');
  const { dirname, join } = process.getBuiltinModule('node:path');
  const isExecutable = isSea();
  const named = (isExecutable ? process.execPath : process.argv[1]) ?? '';
  const path = existsSync(named) ? realpathSync(named) : named;
  const how = howInstalled(path, {
    isExecutable,
    // The package has no source.
    hasSource: existsSync(join(dirname(dirname(path)), 'src', 'main.ts')),
    isKnownToDpkg: path === '/usr/bin/svc' && existsSync('/var/lib/dpkg/info/svc.list'),
  });
  return { how, path, update: updates[how] };
}

/** The program and its first arguments that start this svc once more, under the name that lasts over an update: no link is followed. */
export function itself(): readonly string[] {
  const { isSea } = process.getBuiltinModule('node:sea');
  return isSea() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''];
}
