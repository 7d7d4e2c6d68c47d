// @module-tag long
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Validator } from '@seriousme/openapi-schema-validator';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const { stdout: source } = await svc(sandboxWorld(), ['openapi']);

describe('the OpenAPI document before judges that we did not write', () => {
  test('is valid by the official schema of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(JSON.parse(source))).toMatchObject({ valid: true });
    expect(validator.version).toBe('3.1');
  });

  test('is sound by the recommended rules of a linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    // The service's own paths: /contacts/{id} and /{account}/meetings. And it names no licence.
    expect(problems.map(({ ruleId }) => ruleId).sort()).toEqual(['no-ambiguous-paths']);
  });
});

describe('a client that openapi-typescript makes of the document', () => {
  const modules = join(import.meta.dirname, '..', '..', 'node_modules');
  let built: Built;
  let folder: string;

  beforeAll(async () => {
    built = await buildSvc();
    folder = join(built.folder, 'client');
    mkdirSync(folder);
    symlinkSync(modules, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'openapi.json'), source);
    cpSync(new URL('client.mjs', import.meta.url), join(folder, 'client.mjs'));
    // The generator needs the programming interface of TypeScript 5, which 7 does not have.
    const hook = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context);`;
    writeFileSync(
      join(folder, 'hook.mjs'),
      `import { register } from 'node:module';\nregister('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}), import.meta.url);\n`,
    );
    const generator = join(modules, 'openapi-typescript', 'bin', 'cli.js');
    await execa(process.execPath, ['--import', './hook.mjs', generator, 'openapi.json', '-o', 'api.d.ts'], {
      cwd: folder,
    });
  });
  afterAll(() => built.remove());

  test('fits, by the types that it made', async () => {
    const tsc = join(modules, 'typescript', 'bin', 'tsc');
    const flags = '--noEmit --strict --checkJs --allowJs --target es2023 --module nodenext --types node'.split(' ');
    const ran = await execa(process.execPath, [tsc, ...flags, 'client.mjs'], { cwd: folder, reject: false });
    expect(ran.stdout).toBe('');
    expect(ran.exitCode).toBe(0);
  });

  test('lists and creates contacts in the sandbox', async () => {
    const argv = [built.script, 'sandbox', 'exec', '--seed', 'empty', '--', process.execPath, 'client.mjs'];
    const { stdout } = await execa(process.execPath, argv, { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({
      created: 1,
      newest: 1,
      total: 1,
      email: 'ada@example.com',
      refused: ['phone'],
      limit: '60',
    });
  });
});
