import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';

const bundler = `console.log(process.argv.slice(2).join(' '));
console.error('No such file.');
process.exit(3);`;

test.each(['.', 'project'])('a build that fails in %s says why, and nothing else', async (project) => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-prepare-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [build, rolldown] = [join(folder, project, 'build'), join(folder, 'node_modules', 'rolldown')];
  await mkdir(build, { recursive: true });
  await mkdir(join(rolldown, 'bin'), { recursive: true });
  await writeFile(join(folder, project, 'package.json'), '{"type":"module"}');
  await writeFile(join(rolldown, 'package.json'), '{"name":"rolldown"}');
  await writeFile(join(rolldown, 'bin', 'cli.mjs'), bundler);
  await copyFile(join(import.meta.dirname, '..', '..', 'build', 'prepare.js'), join(build, 'prepare.js'));
  const ran = await execa(process.execPath, [join(build, 'prepare.js')], { reject: false });
  expect(ran).toMatchObject({ exitCode: 3, stdout: '', stderr: 'No such file.' });
});
