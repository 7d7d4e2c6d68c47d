import * as v from 'valibot';
import { webhookTarget } from '../../api/webhooks.ts';
import { Failure } from '../../errors.ts';

/** Where the service may deliver. `name`: of the flag or argument. */
export function httpsTarget(name: string, url: string): string {
  if (v.is(webhookTarget, url)) return url;
  throw new Failure('usage', `${name} must be an https:// URL, not "${url}".`, {
    hint: 'The service delivers to https:// only. To allow http:// in a sandbox: svc sandbox start --allow-http-targets',
  });
}
