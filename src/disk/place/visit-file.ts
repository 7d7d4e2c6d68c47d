import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { codeOf, orElse } from '../../errors.ts';
import { htmlText } from '../../text/html.ts';

/**
 * A page on the disk that leads a browser to an address.
 *
 * Arguments can be read by every user of the machine, and an address may hold a key, or a login that another person
 * could finish. So a browser is given a file that only its owner can read, in a folder that only they can enter.
 */
export async function visitFile(url: URL) {
  removeLeftOver();
  const folder = await makeFolder();
  const remove = () => removeQuietly(folder);
  try {
    const path = join(folder, 'svc.html');
    await writeFile(path, page(url), { mode: 0o600, flag: 'wx' });
    return { path, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A browser that is a snap sees neither /tmp nor hidden folders, but the home. */
const places = (): string[] => (existsSync(join(homedir(), 'snap')) ? [homedir(), tmpdir()] : [tmpdir(), homedir()]);

const begin = 'svc-visit-';

async function makeFolder(): Promise<string> {
  const [first = tmpdir(), second = homedir()] = places();
  const name = `${begin}${process.pid}-`;
  // mkdtemp makes it for its owner alone.
  return mkdtemp(join(first, name)).catch(() => mkdtemp(join(second, name)));
}

/** What a process left that was killed. */
function removeLeftOver(): void {
  for (const place of places()) {
    for (const name of orElse(() => readdirSync(place), [])) {
      const [, pid] = /^svc-visit-(\d+)-\w+$/u.exec(name) ?? [];
      if (pid !== undefined && !isRunning(Number(pid)) && isOwnFolder(join(place, name)))
        removeQuietly(join(place, name));
    }
  }
}

function isOwnFolder(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && (!process.getuid || stat.uid === process.getuid());
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** A browser on Windows may still hold it; the next start removes it. */
const removeQuietly = (folder: string): void =>
  orElse(() => rmSync(folder, { recursive: true, force: true }), undefined);

/** Without a script, so that no browser's rules for files keep it from leading on; the link is for whoever forbids that. */
function page(url: URL): string {
  const address = htmlText(url.href);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url=${address}">
<title>svc</title>
</head>
<body><p><a href="${address}" rel="noreferrer">Continue</a></p></body>
</html>
`;
}
