// @module-tag long
// Many rows whose answers are lost at once, by the real process: what is on the screen is svc's own.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { buildSvc } from '../built.ts';

test('32 rows that are looked for at once bring no warning of Node', async () => {
  const built = await buildSvc();
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.method === 'POST') response.socket?.resetAndDestroy();
    else if (request.url === '/platform/account')
      response.end('{"account_id":1,"name":"Acme","billing_active":true,"setup_url":null}');
    else response.end('{"tickets":[],"meta":{"current_page":1,"last_page":1,"total":0}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const folder = mkdtempSync(join(built.folder, 'many-'));
    const file = join(folder, 'rows.csv');
    writeFileSync(file, `subject\n${Array.from({ length: 32 }, (_, n) => `Row ${n}`).join('\n')}\n`);
    const argv = ['tickets', 'create', '--from', file, '--yes', '--concurrency', '32', '--settle', '1'];
    const ran = await execa(process.execPath, [built.script, ...argv], {
      reject: false,
      env: {
        SVC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        SVC_API_KEY: 'any',
        SVC_CONFIG_DIR: join(folder, 'config'),
        SVC_STATE_DIR: join(folder, 'state'),
      },
    });
    expect(ran.exitCode, ran.stderr).toBe(9);
    expect(ran.stderr).toContain('32 rows may or may not have been done');
    expect(ran.stderr).not.toMatch(/Warning|EventTarget/u);
  } finally {
    server.closeAllConnections();
    server.close();
    await built.remove();
  }
});
