// Standard output where it is a pipe or a socket: little is written at once, and what is more comes whole and in its order.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Built, buildSvc } from '../built.ts';

let built: Built;
beforeAll(async () => {
  built = await buildSvc();
});
afterAll(() => built.remove());

const main = () => JSON.stringify(join(built.script, '..', '..', 'dist', 'main.cjs'));

/** Writes so many bytes for each of the sizes, and tells at the end what it has loaded. */
const writing = (sizes: readonly number[]) => `
const { nodeContext } = require(${main()});
const { stdout, stderr } = nodeContext();
let ended = 0;
${JSON.stringify(sizes)}.forEach((size, at, { length }) => stdout.write(String(at).padEnd(size, '.') + '\\n', (error) => {
  if (error) stderr.write(error.code);
  else if (++ended === length) stderr.write(process.moduleLoadList.includes('NativeModule net') ? 'net' : 'alone');
}));`;

/** `through`: of the shell, so a pipe; without it a socket, as Node gives it to a program. */
function run(sizes: readonly number[], through?: string) {
  const [node, script] = [process.execPath, writing(sizes)];
  return through === undefined
    ? spawnSync(node, ['-e', script], { encoding: 'utf8', maxBuffer: 1e7 })
    : spawnSync('sh', ['-c', `"$0" -e "$1" | ${through}`, node, script], { encoding: 'utf8', maxBuffer: 1e7 });
}

const expected = (sizes: readonly number[]) => sizes.map((size, at) => `${String(at).padEnd(size, '.')}\n`).join('');

test.each([undefined, 'cat'])('a few lines: without what Node loads for a pipe (%s)', (through) => {
  const { stdout, stderr } = run([10, 20, 30], through);
  expect([stdout, stderr]).toEqual([expected([10, 20, 30]), 'alone']);
});

// A pipe holds 64 KB, and a socket some more.
const many = Array.from({ length: 500 }, (_, at) => 1 + ((at * 37) % 2000));

test.each([undefined, 'cat', '{ read -r first; echo "$first"; cat; }'])(
  'more than a pipe holds comes whole and in its order (%s)',
  (through) => {
    const { stdout, stderr } = run(many, through);
    expect([stdout === expected(many), stderr]).toEqual([true, 'net']);
  },
);

test('that the reader has left is told by a write', () => {
  const script = `
const { nodeContext } = require(${main()});
const { stdout, stderr } = nodeContext();
const again = () => stdout.write('one line\\n', (error) => (error ? stderr.write(error.code) : setImmediate(again)));
again();`;
  const { stderr } = spawnSync('sh', ['-c', '"$0" -e "$1" | true', process.execPath, script], { encoding: 'utf8' });
  expect(stderr).toBe('EPIPE');
});

test.runIf(process.platform === 'linux')('a pipe that somebody else has filled holds no signal back', async () => {
  const script = `
const { nodeContext } = require(${main()});
const { stdout, stderr } = nodeContext();
process.on('SIGTERM', () => { stderr.write('heard'); process.exit(); });
stdout.write('one line\\n');
stderr.write('written ');`;
  // The pipe holds 65,536 bytes, and nobody reads them while svc is there, for a minute at most.
  const filled = 'head -c 65536 /dev/zero; "$0" -e "$1" 2>"$2" & own=$!';
  const stopped = 'until grep -qs written "$2"; do :; done; kill -TERM $own; wait $own; touch "$2.end"';
  const waits = 'for at in $(seq 1200); do [ -e "$2.end" ] && exit; sleep 0.05; done; echo " too late" >>"$2"';
  const line = `{ ${filled}; ${stopped}; } | { ${waits}; }; cat "$2" >&2`;
  const { stderr } = spawnSync('sh', ['-c', line, process.execPath, script, join(built.folder, 'heard')], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('written heard');
});

test.each(['2>&1', '2>"$2" && cat "$2"'])('a note that is refused keeps none of the later ones back (%s)', (to) => {
  const script = `
const fs = require('node:fs');
const { writeSync } = fs;
fs.writeSync = () => {
  fs.writeSync = writeSync;
  throw Object.assign(new Error('No space is left.'), { code: 'ENOSPC' });
};
const { nodeContext } = require(${main()});
const { stderr } = nodeContext();
stderr.write('first ', () => stderr.write('second'));`;
  const given = [process.execPath, script, join(built.folder, 'notes')];
  const { stdout } = spawnSync('sh', ['-c', `"$0" -e "$1" ${to}`, ...given], { encoding: 'utf8' });
  expect(stdout).toBe('second');
});

test('notes come whole, however late who reads them begins', () => {
  const script = `
const { nodeContext, runToItsEnd } = require(${main()});
const ctx = nodeContext();
ctx.stderr.write('.'.repeat(300_000));
runToItsEnd(Promise.resolve(0), ctx).then(() => process.exit());`;
  const line = '"$0" -e "$1" 2>&1 >/dev/null | { sleep 1; wc -c; }';
  const { stdout } = spawnSync('sh', ['-c', line, process.execPath, script], { encoding: 'utf8' });
  expect(Number(stdout)).toBe(300_000);
});

test.each([
  ['says', "main(['nonsense'], ctx)", '2'],
  ['notes once its work is done', "(ctx.notice('Note: done.'), Promise.resolve(0))", '0'],
  ['prints', "main(['help', 'sends'], ctx)", '143'],
])('a signal ends svc at once though nobody reads what it %s', (_, running, exitCode) => {
  const script = `
const { main, nodeContext, runToItsEnd } = require(${main()});
const ctx = nodeContext();
setTimeout(() => process.kill(process.pid, 'SIGTERM'), 200);
runToItsEnd(${running}, ctx);`;
  // The pipe is full before, and its reader waits for svc to end, for twenty seconds at most.
  const filled = 'head -c 65536 /dev/zero; "$0" -e "$1" 2>&1; echo $? >"$2"';
  const waits = 'for at in $(seq 200); do [ -s "$2" ] && exit; sleep 0.1; done; echo late >"$2.late"';
  const given = [process.execPath, script, join(built.folder, `ended-${exitCode}`)];
  const line = `{ ${filled}; } | { ${waits}; }; cat "$2"*`;
  const { stdout } = spawnSync('sh', ['-c', line, ...given], { encoding: 'utf8' });
  expect(stdout).toBe(`${exitCode}\n`);
});
