import { join } from 'node:path';
import type { Bearer } from '../auth/session.ts';
import { readIfThere, replaceFile } from '../disk/atomic-file.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call.ts';
import { hexDigestOf } from '../text/digest.ts';
import { serviceName } from './service-name.ts';

/**
 * A credential belongs to one account (service.md#account-1). So where the service names another one than before, one of the
 * two answers was for somebody else, and the history of rows would be looked for in the wrong place.
 *
 * @throws Failure `auth`, as for a profile that was logged in to another account.
 */
export async function requireAccountOfBefore(service: Service, bearer: Bearer, id: string): Promise<void> {
  const { session } = service;
  const told = session.account?.();
  if (told !== undefined && String(told) !== id) throw anotherAccount(String(told), id, 'log in again');
  const path = fileOf(service, bearer);
  // Access tokens of the environment last an hour.
  if (path === undefined) return;
  const text = await readIfThere(path).catch(() => undefined);
  const [, before] = /^\{"account":(\d+)\}$/u.exec(text ?? '') ?? [];
  if (before !== undefined && before !== id) throw anotherAccount(before, id, `remove ${path}`);
  // What cannot be remembered is not compared the next time.
  if (before === undefined) await replaceFile(path, `{"account":${id}}`).catch(() => {});
}

/** Named by a digest: no secret is written. */
function fileOf({ ctx, session }: Service, bearer: Bearer): string | undefined {
  const whose = session.loginId?.(bearer) ?? (bearer.kind === 'api_key' ? bearer.token : undefined);
  if (whose === undefined) return undefined;
  const name = hexDigestOf(`svc account\n${serviceName(session.baseUrl)}\n${whose}`);
  return join(ctx.files.state, 'accounts', `${name.slice(0, 24)}.json`);
}

const anotherAccount = (before: string, now: string, way: string): Failure =>
  new Failure(
    'auth',
    `This credential was of account ${before} before, and now the service answers with account ${now}.`,
    {
      hint:
        'A credential belongs to one account, so one of the two answers was for somebody else. Nothing was sent now. ' +
        `Try again, and look with: svc whoami\nIf account ${now} is the right one, look there what was sent before, and ${way}.`,
    },
  );
