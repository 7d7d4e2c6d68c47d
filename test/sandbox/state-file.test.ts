import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openStateFile } from '../../src/sandbox/store/state-file.ts';
import { buildSvc } from '../built.ts';
import { ada, sandboxFor } from './calls.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-state-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;
const freshPath = () => join(folder, `${files++}.state`);

async function sandboxIn(path: string) {
  const stateFile = await openStateFile(path);
  return { ...sandboxFor({ seed: 'empty', stateFile }), stateFile };
}

async function totalIn(path: string): Promise<number> {
  const { get, stateFile } = await sandboxIn(path);
  const { total } = (await get('/contacts')).body.meta;
  await stateFile.close();
  return total;
}

test('whatever byte a crash tore the file at, all that was answered before is there', async () => {
  const path = freshPath();
  const { post, stateFile } = await sandboxIn(path);
  const sizes: number[] = [];
  for (let n = 0; n < 5; n++) {
    await post('/contacts/create', ada);
    sizes.push(statSync(path).size);
  }
  await stateFile.close();
  const whole = readFileSync(path);
  for (let cut = (sizes[3] as number) + 1; cut < whole.length; cut += 7) {
    const torn = Buffer.from(whole.subarray(0, cut));
    // As it stood when the fifth line was on its way.
    torn.write(`{"svc_sandbox_state":1,"committed":"${String(sizes[3]).padStart(15, '0')}"}\n`);
    const copy = freshPath();
    writeFileSync(copy, torn);
    expect(await totalIn(copy), `cut at ${cut}`).toBe(4);
  }
});

test.each([
  ['a byte in the middle is another', (bytes: Buffer) => bytes.fill('#', 200, 201)],
  ['its end is missing', (bytes: Buffer) => bytes.subarray(0, bytes.length - 10)],
  ['half of it is missing', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
  ['it is something else', () => Buffer.from('{"contacts":[]}')],
  ['it is binary', () => Buffer.from([0, 1, 2, 255, 254])],
])('a file that is damaged is refused and left as it is: %s', async (_, damage) => {
  const path = freshPath();
  const { post, stateFile } = await sandboxIn(path);
  await post('/contacts/create', { contacts: [ada, ada, ada] });
  await stateFile.close();
  const damaged = Buffer.from(damage(readFileSync(path)));
  writeFileSync(path, damaged);
  await expect(openStateFile(path)).rejects.toThrow(/damaged/u);
  expect(readFileSync(path).equals(damaged)).toBe(true);
});

test('an empty file is a new one', async () => {
  const path = freshPath();
  writeFileSync(path, '');
  expect(await totalIn(path)).toBe(0);
});

test('requests that come together are all kept, and share their writes', async () => {
  const path = freshPath();
  const { post, stateFile } = await sandboxIn(path);
  const answers = await Promise.all(Array.from({ length: 200 }, () => post('/contacts/create', ada)));
  expect(new Set(answers.map(({ body }) => body.contacts.contact_id)).size).toBe(200);
  const copy = freshPath();
  writeFileSync(copy, readFileSync(path));
  expect(await totalIn(copy)).toBe(200);
  await stateFile.close();
});

test.skipIf(process.platform !== 'linux')(
  'on a full disk a write is answered 500, and what was answered before is kept',
  { tags: ['long'] },
  async () => {
    const svc = await buildSvc();
    const path = freshPath();
    // The shell's limit on file sizes is as full as a disk gets without being root.
    const command = `ulimit -f 64; exec "$0" "$@"`;
    const flags = [
      'sandbox',
      'start',
      '--port',
      '0',
      '--json',
      '--seed',
      'empty',
      '--rate-limit',
      'off',
      '--state',
      path,
    ];
    const child = spawn('bash', ['-c', command, process.execPath, svc.script, ...flags]);
    const line = await new Promise<string>((ready) => child.stdout.once('data', (text) => ready(String(text))));
    const { base_url } = JSON.parse(line);
    let kept = 0;
    let refused: Response | undefined;
    for (let n = 0; n < 200 && !refused; n++) {
      const response = await fetch(`${base_url}/contacts/create`, {
        method: 'POST',
        headers: { authorization: 'Bearer key_acme', 'content-type': 'application/json' },
        body: JSON.stringify({ ...ada, metadata: { filler: 'x'.repeat(1000) } }),
      });
      if (response.status === 200) kept++;
      else refused = response;
    }
    expect(refused?.status).toBe(500);
    expect(Object.keys((await refused?.json()) as object)).toEqual(['error']);
    const still = await fetch(`${base_url}/nothing`);
    expect([404, 500]).toContain(still.status);
    child.kill('SIGKILL');
    await new Promise((gone) => child.once('close', gone));
    expect(await totalIn(path)).toBeGreaterThanOrEqual(kept);
    svc.remove();
  },
);
