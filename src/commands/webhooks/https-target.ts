import * as v from 'valibot';
import { webhookTarget } from '../../api/webhooks.ts';
import { Failure, withHint } from '../../errors.ts';

/** Where the service may deliver. `name`: of the flag or argument. */
export function httpsTarget(name: string, url: string): string {
  if (v.is(webhookTarget, url)) return url;
  throw new Failure('usage', `${name} must be an https:// URL, not "${url}".`, {
    hint: 'The service delivers to https:// only. To receive on this machine: svc webhooks listen --tunnel cloudflared',
  });
}

/** A sandbox alone delivers to http://, to this machine, and only where it was told to. */
export function withSandboxAdvice(url: string, error: unknown): unknown {
  if (!(error instanceof Failure) || error.kind !== 'rejected' || error.hint !== undefined || url.startsWith('https:'))
    return error;
  return withHint(
    error,
    'A sandbox delivers to http:// of this machine where it was started with: svc sandbox start --allow-http-targets',
  );
}
