import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/** `guest.ts` as a program to be run with Node, in a folder of its own. */
export async function buildGuest(): Promise<{ readonly folder: string; readonly guest: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-guest-'));
  const bundle = await rolldown({
    input: { guest: 'test/screen/guest.ts' },
    platform: 'node',
    external: [/^node:/u, '@napi-rs/keyring'],
    // The inspector's page is not looked at here.
    plugins: [{ name: 'no-page', load: (id) => (id.endsWith('?raw') ? 'export default ""' : null) }],
  });
  await bundle.write({ dir: folder, format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  return { folder, guest: join(folder, 'guest.mjs') };
}
