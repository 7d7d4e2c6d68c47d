import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { homeFolder, ownFolder, soundPlaces } from '../../src/disk/place/home.ts';
import { type Built, buildSvc } from '../built.ts';

const on = (platform: NodeJS.Platform, home?: string) => ({ platform, accountHome: () => home });
const linux = on('linux', '/home/ada');
const windows = on('win32', 'C:\\Users\\ada');

test.each(['', '.', '..', 'ada', './x', '~'])('a HOME of "%s" is that of the password database', (HOME) => {
  expect(homeFolder({ HOME }, linux)).toBe('/home/ada');
  expect(ownFolder('config', { HOME }, linux)).toBe('/home/ada/.config/svc');
  expect(ownFolder('state', { HOME }, linux)).toBe('/home/ada/.local/state/svc');
  expect(ownFolder('config', { HOME }, on('darwin', '/Users/ada'))).toBe('/Users/ada/Library/Preferences/svc');
  expect(ownFolder('state', { HOME }, on('darwin', '/Users/ada'))).toBe('/Users/ada/Library/Logs/svc');
});

test.each(['', '.', '.config', 'x/y'])('"%s" is no place for a folder of the XDG specification', (path) => {
  const env = { HOME: '/h', XDG_CONFIG_HOME: path, XDG_STATE_HOME: path };
  expect(ownFolder('config', env, linux)).toBe('/h/.config/svc');
  expect(ownFolder('state', env, linux)).toBe('/h/.local/state/svc');
});

test.each(['', '.', 'x', '\\x', '/x', 'C:x', 'C:'])('"%s" is no place for a folder on Windows', (path) => {
  const env = { USERPROFILE: path, HOME: path, APPDATA: path, LOCALAPPDATA: path };
  expect(ownFolder('config', env, windows)).toBe('C:\\Users\\ada\\AppData\\Roaming\\svc\\Config');
  expect(ownFolder('state', env, windows)).toBe('C:\\Users\\ada\\AppData\\Local\\svc\\Log');
});

test('whole paths are taken as they are, and what the user names for svc alone may be relative', () => {
  const env = { HOME: '/h', XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' };
  expect([ownFolder('config', env, linux), ownFolder('state', env, linux)]).toEqual(['/c/svc', '/s/svc']);
  const data = { APPDATA: 'D:\\r', LOCALAPPDATA: '\\\\server\\l' };
  expect(ownFolder('config', data, windows)).toBe('D:\\r\\svc\\Config');
  expect(ownFolder('state', data, windows)).toBe('\\\\server\\l\\svc\\Log');
  expect(ownFolder('config', { ...env, SVC_CONFIG_DIR: 'here' }, linux)).toBe('here');
  expect(ownFolder('state', { ...env, SVC_STATE_DIR: '' }, linux)).toBe('/s/svc');
});

test.each(['~', '~/x', '~ada/x', '$HOME/x', '%h/x', '"/x"', "'/x'", ' /x', '/x ', '/x\n', ' '])(
  '%j is what a shell would have read, and no place: it is said which variable names it',
  (place) => {
    for (const [what, name] of [
      ['config', 'SVC_CONFIG_DIR'],
      ['state', 'SVC_STATE_DIR'],
    ] as const)
      expect(() => ownFolder(what, { HOME: '/h', [name]: place }, linux)).toThrow(
        new RegExp(`^${name} cannot be used`, 'u'),
      );
  },
);

test.each(['/x', 'x', './~', './~/x', '/a ~/$x', 'C:\\x y'])('%j is taken as it is', (place) => {
  expect(ownFolder('config', { HOME: '/h', SVC_CONFIG_DIR: place }, linux)).toBe(place);
});

test.each([undefined, '', '.'])('without a home (%j) it is said what to set', (home) => {
  expect(() => ownFolder('config', { HOME: '.' }, on('linux', home))).toThrow(/where your home folder is/u);
  expect(ownFolder('config', { SVC_CONFIG_DIR: '/c' }, on('linux', home))).toBe('/c');
});

test('no program that svc starts finds a place in the working folder either', () => {
  const sound = { HOME: '/h', XDG_CONFIG_HOME: '/c' };
  expect(soundPlaces(sound, linux)).toEqual({});
  expect(soundPlaces({ HOME: '', XDG_CACHE_HOME: '.cache', XDG_DATA_HOME: '', XDG_STATE_HOME: '/s' }, linux)).toEqual({
    HOME: '/home/ada',
    XDG_CACHE_HOME: undefined,
    XDG_DATA_HOME: undefined,
  });
  expect(soundPlaces({ HOME: '.', USERPROFILE: '', APPDATA: 'D:\\r' }, windows)).toEqual({
    HOME: undefined,
    USERPROFILE: 'C:\\Users\\ada',
    LOCALAPPDATA: 'C:\\Users\\ada\\AppData\\Local',
  });
});

describe.skipIf(process.platform === 'win32')('in a folder with a configuration of a stranger', () => {
  let built: Built;
  let repository: string;
  beforeAll(async () => {
    built = await buildSvc();
    repository = mkdtempSync(join(tmpdir(), 'svc-repository-'));
    const config = JSON.stringify({
      aliases: { strangers: 'help ids' },
      profiles: { stranger: { base_url: 'http://127.0.0.1:9' } },
    });
    for (const folder of ['svc', '.config/svc', 'Library/Preferences/svc', '.svc']) {
      mkdirSync(join(repository, folder), { recursive: true });
      writeFileSync(join(repository, folder, 'config.json'), config);
    }
  });
  afterAll(() => built.remove());

  const run = (argv: readonly string[], env: Readonly<Record<string, string | undefined>>) =>
    execa(process.execPath, [built.script, ...argv], {
      cwd: repository,
      extendEnv: false,
      env: { PATH: process.env.PATH, CI: '1', ...env },
      reject: false,
      stdin: 'ignore',
    });

  test.each([
    { HOME: '' },
    { HOME: '.' },
    { HOME: './' },
    { HOME: '', XDG_CONFIG_HOME: '.' },
    { XDG_CONFIG_HOME: '.config', XDG_STATE_HOME: '.config' },
  ])('%j: nothing of it is taken, and nothing is put there', { tags: ['long'] }, async (env) => {
    const there = readdirSync(repository, { recursive: true });
    const alias = await run(['strangers'], env);
    expect(alias).toMatchObject({ exitCode: 2, stdout: '' });
    const tab = await run(['__complete', '--', 'stran'], env);
    expect(tab.stdout).not.toContain('strangers');
    const asked = await run(['whoami', '--profile', 'stranger'], { ...env, SVC_API_KEY: 'key_of_mine' });
    expect(asked.stderr).not.toContain('127.0.0.1:9');
    expect(asked.exitCode).not.toBe(10);
    expect(readdirSync(repository, { recursive: true })).toEqual(there);
  });

  test.each(['SVC_CONFIG_DIR', 'SVC_STATE_DIR'])(
    '%s with a ~ that no shell has read makes no folder: exit 2, and doctor names it',
    { tags: ['long'] },
    async (name) => {
      const there = readdirSync(repository, { recursive: true });
      const env = {
        HOME: mkdtempSync(join(tmpdir(), 'svc-home-')),
        SVC_API_KEY: 'key',
        SVC_BASE_URL: 'http://127.0.0.1:9',
        [name]: '~/x',
      };
      const sent = await run(['tickets', 'reply', '8', '--body', 'Hello', '--yes'], env);
      expect(sent).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${name} cannot be used`) });
      const doctor = await run(['doctor'], env);
      expect(doctor).toMatchObject({ exitCode: 1, stdout: expect.stringContaining(`${name} cannot be used`) });
      expect(readdirSync(repository, { recursive: true })).toEqual(there);
    },
  );

  test('a program that svc starts has the home of the password database', { tags: ['long'] }, async () => {
    const { stdout } = await run(['sandbox', 'exec', '--', 'sh', '-c', 'echo "$HOME,$XDG_CACHE_HOME"'], {
      HOME: '',
      XDG_CACHE_HOME: 'x',
    });
    expect(stdout).toBe(`${userInfo().homedir},`);
  });
});
