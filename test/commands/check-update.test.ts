import { expect, test } from 'vitest';
import { howInstalled, typedAs } from '../../src/disk/place/installed.ts';
import { quickAnswer } from '../../src/program/quick.ts';
import { version } from '../../src/version.ts';
import { sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

type Report = {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly message: string }[];
  readonly update?: { readonly version: string; readonly newer: boolean } | null;
};

/** `doctor --check-update` where that body is announced; what it reported, and the requests that came. */
async function ask(answer: {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
}) {
  const asked: string[] = [];
  const world = sandboxWorld();
  const { exchange } = world;
  const { status = 200, body = '', headers = {} } = answer;
  const ran = await svc(
    {
      ...world,
      exchange: async (request) => {
        if (!request.url.startsWith('https://news.example.com/')) return exchange(request);
        asked.push(JSON.stringify(request.headers));
        return { status, headers, body };
      },
    },
    ['doctor', '--check-update', 'https://news.example.com/svc.json', '--json'],
  );
  const report: Report = JSON.parse(ran.stdout);
  return { ran, report, asked, update: report.checks.find(({ name }) => name === 'update') };
}

test.each([
  ['a manifest', '{"version": "99.1.0", "bin": "svc.exe"}'],
  ['a release', '{"tag_name": "v99.1.0"}'],
  ['a package', '{"dist-tags": {"latest": "99.1.0"}}'],
  ['a text', 'v99.1.0\n'],
])('a newer version is told from %s', async (_, body) => {
  const { report, update, asked } = await ask({ body });
  expect(report.update).toEqual({ version: '99.1.0', newer: true });
  expect(update).toMatchObject({ ok: true, message: expect.stringContaining('svc 99.1.0 is announced. To have it: ') });
  expect(asked).toHaveLength(1);
  expect(asked[0]).not.toContain('uthorization');
});

test('its own version and an older one are no news', async () => {
  expect((await ask({ body: version })).report.update).toEqual({ version, newer: false });
  expect((await ask({ body: '{"version":"0.0.1"}' })).report.update).toEqual({ version: '0.0.1', newer: false });
});

test.each([
  ['a web page', { body: '<!doctype html><title>1.2.3</title>' }, 'announces no version'],
  ['nothing', { body: '' }, 'announces no version'],
  ['a list', { body: '["1.2.3"]' }, 'announces no version'],
  ['a number', { body: '{"version": 2}' }, 'announces no version'],
  ['a version that is none', { body: '{"version": "1.2.3; rm -rf /"}' }, 'announces no version'],
  ['an endless version', { body: `1.2.3-${'a'.repeat(100)}` }, 'announces no version'],
  ['a large page', { body: `1.2.3${' '.repeat(2_000_000)}` }, 'announces no version'],
  ['an error', { status: 404, body: '1.2.3' }, 'HTTP 404'],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.example.com/' } }, 'redirects to'],
])('%s: it could not be learned, exit 1', async (_, answer, why) => {
  const { ran, report, update } = await ask(answer);
  expect(ran.exitCode).toBe(1);
  expect(report.update).toBeNull();
  expect(update).toMatchObject({ ok: false, message: expect.stringContaining(why) });
});

test.each(['http://news.example.com/', 'ftp://news.example.com/', 'news', 'https://a:b@news.example.com/'])(
  '%s is refused before anything is asked, exit 2',
  async (url) => {
    const world = sandboxWorld();
    let asked = 0;
    const exchange: typeof world.exchange = async (request) => {
      asked += 1;
      return world.exchange(request);
    };
    const ran = await svc({ ...world, exchange }, ['doctor', '--check-update', url]);
    expect([ran.exitCode, asked]).toEqual([2, 0]);
    expect(ran.stderr).not.toContain('a:b');
  },
);

test('without the flag nobody is asked, and svc says how it was installed', async () => {
  const ran = await svc(sandboxWorld(), ['doctor', '--json']);
  const report: Report = JSON.parse(ran.stdout);
  expect(report).not.toHaveProperty('update');
  expect(report.checks[0]).toMatchObject({
    name: 'svc',
    ok: true,
    message: expect.stringContaining(`svc ${version}, `),
  });
});

test('svc --version --json tells what a bug report needs, in either order', async () => {
  const told = await quickAnswer(['--version', '--json']);
  expect(JSON.parse(told ?? '')).toEqual({
    version,
    node: process.versions.node,
    platform: process.platform,
    arch: process.arch,
    installed: expect.any(String),
    path: expect.any(String),
  });
  expect(await quickAnswer(['--json', '--version'])).toBe(told);
  expect(await quickAnswer(['--json', '--help'])).toBeUndefined();
});

test.each([
  ['/usr/local/lib/node_modules/svc/bin/svc.js', {}, 'npm'],
  ['/home/ada/unpacked/bin/svc.js', {}, 'unpacked'],
  ['/usr/bin/svc', { isExecutable: true, isKnownToDpkg: true }, 'debian'],
  ['/usr/local/bin/svc', { isExecutable: true }, 'executable'],
  ['/opt/homebrew/Cellar/svc/1.2.0/bin/svc', { isExecutable: true }, 'homebrew'],
  ['C:\\Users\\ada\\scoop\\apps\\svc\\current\\svc.exe', { isExecutable: true }, 'scoop'],
  ['/home/ada/svc/bin/svc.js', { hasSource: true }, 'checkout'],
])('%s: %j is %s', (path, signs, how) => {
  expect(howInstalled(path, { isExecutable: false, hasSource: false, isKnownToDpkg: false, ...signs })).toBe(how);
});

test('svc is typed by its script in a checkout, where no svc is on the PATH yet', () => {
  const typed = (how: 'checkout' | 'npm', script: string) => typedAs({ how, path: 'bin/svc.js' }, script);
  expect(typed('checkout', '/home/ada/svc/bin/svc.js')).toBe('node bin/svc.js');
  expect(typed('checkout', 'C:\\svc\\bin\\svc.js')).toBe('node bin/svc.js');
  // After `npm install --global .`
  expect(typed('checkout', '/usr/local/bin/svc')).toBe('svc');
  expect(typed('npm', 'C:\\npm\\node_modules\\svc\\bin\\svc.js')).toBe('svc');
});
