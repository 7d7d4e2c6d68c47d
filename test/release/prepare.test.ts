import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { npm } from '../registry.ts';

const checkout = join(import.meta.dirname, '..', '..');
const failing = `console.log(process.argv.slice(2).join(' '));
console.error('No such file.');
process.exit(3);`;

/** A project with the build of this one, in a folder of `folder`, and above it what stands for the bundler. */
async function project(name: string, bundler: string) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-prepare-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [build, rolldown] = [join(folder, name, 'build'), join(folder, 'node_modules', 'rolldown')];
  await mkdir(build, { recursive: true });
  await mkdir(join(rolldown, 'bin'), { recursive: true });
  await writeFile(join(folder, name, 'package.json'), '{"type":"module"}');
  await writeFile(join(rolldown, 'package.json'), '{"name":"rolldown"}');
  await writeFile(join(rolldown, 'bin', 'cli.mjs'), bundler);
  await copyFile(join(checkout, 'build', 'prepare.js'), join(build, 'prepare.js'));
  return { folder: join(folder, name), build };
}

test.each(['.', 'project'])('a build that fails in %s says why, and nothing else', async (name) => {
  const { build } = await project(name, failing);
  const ran = await execa(process.execPath, [join(build, 'prepare.js')], { reject: false });
  expect(ran).toMatchObject({ exitCode: 3, stdout: '', stderr: 'No such file.' });
});

test('npm pack in a checkout builds, packs no script that npm names to whoever installs, and leaves the manifest as it was', async () => {
  const bundler = "import { appendFileSync } from 'node:fs';\nappendFileSync('README.md', 'built\\n');";
  const { folder, build } = await project('project', bundler);
  await copyFile(join(checkout, 'build', 'prepack.js'), join(build, 'prepack.js'));
  const manifest = await readFile(join(checkout, 'package.json'), 'utf8');
  await writeFile(join(folder, 'package.json'), manifest);
  await cp(join(checkout, 'bin'), join(folder, 'bin'), { recursive: true });

  const ran = await npm(['pack', '--json', '--loglevel=silent'], folder);
  expect(ran.exitCode, ran.stderr).toBe(0);
  expect(await readFile(join(folder, 'package.json'), 'utf8')).toBe(manifest);
  expect(await readFile(join(folder, 'README.md'), 'utf8')).toBe('built\n');
  const name = (await readdir(folder)).find((file) => file.endsWith('.tgz'));
  const packed = await execa('tar', ['-xzOf', join(folder, name ?? ''), 'package/package.json']);
  const { scripts } = JSON.parse(packed.stdout);
  expect(['preinstall', 'install', 'postinstall', 'prepare'].filter((script) => script in scripts)).toEqual([]);
});
