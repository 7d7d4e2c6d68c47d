import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * `npm run mutation [-- PART …]` changes the files that decide what happens to a person's data, one small change at a
 * time, and counts how many of the changes no test notices. Each part has few tests, so that it ends within minutes.
 */
const parts = {
  retry: { mutate: ['src/retry/*.ts'], tests: ['test/http/{retry,retry-after}.test.ts'] },
  agree: { mutate: ['src/http/{agree,settle}.ts'], tests: ['test/http/{agree,settle,look,late}.test.ts'] },
  look: { mutate: ['src/http/{look,lookings}.ts'], tests: ['test/http/{look,late}.test.ts'] },
  send: {
    mutate: ['src/http/{send,answer,endings,attempt}.ts'],
    tests: ['test/http/*.test.ts'],
  },
  sync: {
    mutate: ['src/sync/{run,chunks,journal}.ts'],
    tests: ['test/sync/{run,resume,sync,durable,pacing,chance}.test.ts'],
  },
  refresh: {
    mutate: ['src/auth/refresh.ts'],
    tests: ['test/auth/{refresh,token-answers,session,containers}.test.ts'],
  },
  receiving: {
    mutate: ['src/webhooks/receiving/*.ts'],
    tests: ['test/webhooks/{signature,receiver,judge,odd-deliveries}.test.ts'],
  },
  release: {
    mutate: ['src/release/{section,pick,plan}.ts'],
    tests: ['test/release/{section,release,reading,write}.test.ts'],
  },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  process.stderr.write(`No such part: ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}\n`);
  process.exit(2);
}

const stryker = join(import.meta.dirname, '../node_modules/@stryker-mutator/core/bin/stryker.js');
for (const [name, { mutate, tests }] of Object.entries(parts)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  // Patterns hold commas, so they are separated by another sign.
  const env = { ...process.env, MUTATION_TESTS: tests.join(';') };
  const { status } = spawnSync(process.execPath, [stryker, 'run', '--mutate', mutate.join(',')], {
    stdio: 'inherit',
    env,
  });
  if (status !== 0) process.exitCode = 1;
}
