import type { KnipConfig } from 'knip';

/** `npm run lint` fails for a file, an export or a package that nothing uses. */
export default {
  entry: [
    // Loaded by name: by svc.js, by the executable's build, by tests.
    'bin/*.js',
    'src/{main,program/quick,program/completion-tree,program/man}.ts',
    'build/*.{js,cjs,ts}',
    'bench/*.{js,cjs,ts}',
    'docs/pictures/*.js',
    'test/**/*.test.ts',
    // Loaded into a process, or built for one.
    'test/**/*.{mjs,cjs}',
    'test/at-rest.ts',
    'test/webhooks/no-files.ts',
    'test/audit/appender.ts',
    'test/screen/guest.ts',
  ],
  project: ['{bin,src,build,bench,test}/**/*.{js,ts,cjs,mjs}', '*.config.{js,ts}'],
  // Started as a program by test/derive/judges.test.ts, which also makes the file.
  ignoreDependencies: ['openapi-typescript'],
  ignoreUnresolved: ['./api.d.ts'],
  // Programs of the machine.
  ignoreBinaries: [
    'nats-server',
    'unshare',
    'dpkg-deb',
    'dbus-run-session',

    'mandoc',
    'mkfifo',
    'mount',
    'openssl',
    'script',
    'dbus-send',
    'secret-tool',
    'sqlite3',
    'umount',
  ],
} satisfies KnipConfig;
