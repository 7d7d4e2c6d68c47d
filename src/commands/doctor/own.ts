import { isLoopback } from '../../config/service-url.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { type Installed, installed } from '../../disk/place/installed.ts';
import { Failure, interruption } from '../../errors.ts';
import { isOlder, isVersion } from '../../release/version.ts';
import { jsonIn } from '../../text/json.ts';
import { isRecord } from '../../text/record.ts';
import { userAgent, version } from '../../version.ts';
import { type Check, fine, wrong } from './check.ts';

/** What is announced at an address. */
type Announced = { readonly version: string; readonly newer: boolean };

export function ownCheck(): Check {
  const { how, path } = installed();
  return fine('svc', `svc ${version}, ${words[how]}: ${path}`);
}

const words: Readonly<Record<Installed['how'], string>> = {
  npm: 'installed by npm',
  unpacked: 'an unpacked package',
  debian: 'installed as a Debian package',
  homebrew: 'installed by Homebrew',
  scoop: 'installed by Scoop',
  executable: 'a single executable',
  checkout: 'run from its source',
};

/** `announced`: for scripts; null where it could not be learned. */
export async function updateCheck(
  ctx: Context,
  { timeoutMs }: Pick<Settings, 'timeoutMs'>,
  url: string,
): Promise<{ readonly check: Check; readonly announced: Announced | null }> {
  const found = await announcedAt(ctx, url, timeoutMs);
  if (ctx.signal.aborted) throw interruption(ctx.signal);
  const name = 'update';
  if ('trouble' in found) return { check: wrong(name, found.trouble, 'Check the address.'), announced: null };
  const message = found.newer
    ? `svc ${found.version} is announced. To have it: ${installed().update}`
    : `${found.version} is announced; this is no older.`;
  return { check: { ...fine(name, message), ...(found.newer && { isNeutral: true }) }, announced: found };
}

/** The address for --check-update: https, or this machine. Nothing secret can be a part of it. */
export function updateUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    throw new Failure('usage', '--check-update: a URL may not carry a user name or password.');
  }
  if (url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.href)))) return url.href;
  throw new Failure('usage', `--check-update must be an https:// URL, not "${text}".`, {
    hint: 'For example the address of svc.json in a release.',
  });
}

const longestMs = 10_000;
/** What announces a version is short; a page of something else need not be read. */
const longestAnswer = 1024 * 1024;

/** Asks once, without any credential. `trouble`: why it cannot be told. */
async function announcedAt(
  { exchange, signal }: Context,
  url: string,
  timeoutMs: number,
): Promise<Announced | { readonly trouble: string }> {
  const answer = await exchange({
    method: 'GET',
    url,
    headers: { accept: 'application/json, text/plain', 'user-agent': userAgent },
    timeoutMs: Math.min(timeoutMs, longestMs),
    signal,
  });
  if ('lost' in answer) return { trouble: `${url} cannot be reached: ${answer.detail}` };
  const { status, headers, body } = answer;
  if (status >= 300 && status < 400) return { trouble: `${url} redirects to ${headers.location ?? 'nowhere'}.` };
  if (status !== 200) return { trouble: `${url} answers with HTTP ${status}.` };
  const found = body.length > longestAnswer ? undefined : versionIn(body);
  if (found === undefined) return { trouble: `${url} announces no version.` };
  return { version: found, newer: isOlder(version, found) };
}

/** Of a manifest (`version`), of a release (`tag_name`), of a package's tags (`dist-tags`), or the text itself. */
function versionIn(body: string): string | undefined {
  const named = nameIn(body)?.trim().replace(/^v/u, '');
  return named !== undefined && named.length <= 64 && /^\d+\.\d+\.\d+/u.test(named) && isVersion(named)
    ? named
    : undefined;
}

function nameIn(body: string): string | undefined {
  const value = jsonIn(body);
  if (value === undefined) return body;
  if (!isRecord(value)) return undefined;
  const { version: own, tag_name: tag, 'dist-tags': tags } = value;
  const said = own ?? tag ?? (isRecord(tags) ? tags.latest : undefined);
  return typeof said === 'string' ? said : undefined;
}
