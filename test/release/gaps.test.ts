import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { type RunOptions, svc } from '../svc.ts';

let world: SandboxWorld;
let file: string;

beforeEach(() => {
  world = sandboxWorld({ seed: 'empty' });
  file = join(world.folder, 'CHANGELOG.md');
});

const write = (...versions: readonly string[]) =>
  writeFileSync(
    file,
    `# Changelog\n\n${versions.map((version) => `## ${version}\n\n- What is new in ${version}\n`).join('\n')}`,
  );

async function release(argv: readonly string[] = [], options: RunOptions = {}) {
  const ran = await svc(world, ['changelog', 'release', '--from', file, '--json', ...argv], options);
  return { code: ran.exitCode, notes: ran.stderr, json: JSON.parse(ran.stdout) };
}

describe('versions that a run leaves out', () => {
  test('are named with the new entry, with the command that releases the oldest of them', async () => {
    write('1.4.0');
    expect((await release()).notes).toBe('');
    write('1.6.0', '1.5.1', '1.5.0', '1.4.0', '1.3.0');
    const { code, notes, json } = await release();
    expect({ code, action: json.action, skipped: json.skipped }).toEqual({
      ...{ code: 0, action: 'created', skipped: ['1.5.1', '1.5.0'] },
    });
    expect(notes).toBe(
      `Note: 1.5.1 and 1.5.0 are in ${file} too, and have no entry. To release the oldest: svc changelog release 1.5.0 --from ${file}\n`,
    );
    expect((await release(['1.5.0'])).json.skipped).toEqual([]);
    expect((await release(['1.5.1'])).notes).toBe('');
  });

  test('are in the JSON of every run, and said with a new entry alone', async () => {
    write('1.4.0');
    await release();
    write('1.6.0', '1.5.0', '1.4.0');
    const foreseen = await release(['--dry-run']);
    expect(foreseen.notes).toContain('1.5.0 is in');
    await release();
    const again = await release();
    expect([again.json.action, again.json.skipped, again.notes]).toEqual(['unchanged', ['1.5.0'], '']);
  });

  test('are none before the first release, nor pre-releases, what is unreleased or yanked, or a version that the portal has', async () => {
    write('1.2.0', '1.1.0', '1.0.0');
    expect((await release()).json.skipped).toEqual([]);
    expect((await release(['1.0.0'])).json.skipped).toEqual([]);
    write('Unreleased', '1.3.0', '1.3.0-rc.1', '1.2.5-beta', '1.2.1 [YANKED]', '1.2.0', '1.1.0', '1.0.0');
    expect((await release()).json.skipped).toEqual([]);
  });

  test('are those of the same package', async () => {
    write('web@1.0.0', 'api@1.0.0');
    await release(['web@1.0.0']);
    write('web@1.2.0', 'api@1.1.5', 'web@1.1.0', 'api@1.0.0', 'web@1.0.0');
    const { json, notes } = await release(['web@1.2.0']);
    expect(json.skipped).toEqual(['web@1.1.0']);
    expect(notes).toContain('svc changelog release web@1.1.0');
    expect((await release(['api@1.1.5'])).json.skipped).toEqual([]);
  });

  test('stand on the page of a job', async () => {
    write('1.4.0');
    await release();
    write('1.6.0', '1.5.0', '1.4.0');
    const page = join(world.folder, 'summary.md');
    await release([], { env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: page } });
    expect(readFileSync(page, 'utf8')).toContain('1.5.0 is in');
  });
});

describe('a version of the portal that is newer than the newest of the changelog', () => {
  test('is named where nobody has said which version to release', async () => {
    write('1.1.0');
    await release();
    write('1.0.0');
    const { notes, json } = await release();
    expect(json.action).toBe('created');
    expect(notes).toBe(`Note: The portal has 1.1.0, which is newer than 1.0.0, and ${file} does not have it.\n`);
  });

  test('is no surprise where the version was named, or the changelog has it too', async () => {
    write('2.0.0');
    await release();
    write('1.0.0');
    expect((await release(['1.0.0'])).notes).toBe('');
    write('1.0.1', '2.0.0');
    const env = { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v1.0.1' };
    expect((await release([], { env })).notes).not.toContain('newer');
  });
});
