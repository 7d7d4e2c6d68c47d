// `npm pack` runs this before it packs (`hide`) and after (`show`). npm warns whoever installs a package of a script
// `prepare`, which a package never runs; a checkout needs it. It is renamed and not kept aside, so that nothing is lost
// where npm is killed in between: the next `npm pack` puts it right.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [from, to] = process.argv[2] === 'hide' ? ['prepare', '_prepare'] : ['_prepare', 'prepare'];
const manifest = join(import.meta.dirname, '..', 'package.json');
writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"${from}":`, `"${to}":`));
