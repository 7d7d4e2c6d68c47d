import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

/** `svc_VERSION_ARCH.deb` from the folder of an archive, everything in the place where Debian wants it. Needs no root. */
export function debianPackage(folder, target, { name, version, description, to, epoch, work }) {
  const architecture = architectures[target];
  const root = join(work, `deb-${architecture}`);
  const put = (path, content, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content, { mode });
  };
  const from = (path) => readFileSync(join(folder, path));
  mkdirSync(join(root, 'usr', 'bin'), { recursive: true });
  cpSync(join(folder, 'svc'), join(root, 'usr', 'bin', 'svc'));
  for (const page of readdirSync(join(folder, 'man'))) {
    put(`usr/share/man/man1/${page}.gz`, gzipSync(from(`man/${page}`), { level: 9 }));
  }
  put('usr/share/bash-completion/completions/svc', from('completions/svc.bash'));
  put('usr/share/zsh/vendor-completions/_svc', from('completions/_svc'));
  put('usr/share/fish/vendor_completions.d/svc.fish', from('completions/svc.fish'));
  const licences = ['LICENSE', 'NODE-LICENSE.txt', 'THIRD-PARTY-LICENSES.txt'];
  put(`usr/share/doc/${name}/copyright`, Buffer.concat(licences.map((one) => Buffer.concat([from(one), newline]))));
  put(`usr/share/doc/${name}/changelog.gz`, gzipSync(from('CHANGELOG.md'), { level: 9 }));
  put('DEBIAN/control', control({ name, version, description, architecture, kib: kibOf(root) }));
  setTimes(root, epoch);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '-z1', '--build', root, to], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  rmSync(root, { recursive: true });
}

const newline = Buffer.from('\n');

/** Node's own executables need no more than the C and C++ libraries of Debian 10 and later. */
const control = ({ name, version, description, architecture, kib }) => `Package: ${name}
Version: ${version}
Architecture: ${architecture}
Maintainer: The authors of svc <svc@example.com>
Installed-Size: ${kib}
Depends: libc6 (>= 2.28), libstdc++6, libatomic1
Section: utils
Priority: optional
Description: ${description.replace(/\.$/u, '')}
`;

const kibOf = (path) =>
  statSync(path).isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + kibOf(join(path, name)), 1)
    : Math.ceil(statSync(path).size / 1024);

function setTimes(path, epoch) {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) setTimes(join(path, name), epoch);
  utimesSync(path, epoch, epoch);
}
