import { hexDigestOf } from '../text/digest.ts';
import type { Bearer, Session } from './session.ts';

/** Tells a credential from every other, an OAuth login through all its refreshes. A digest: no secret is in it. */
export const loginDigest = ({ loginId }: Pick<Session, 'loginId'>, bearer: Bearer): string =>
  loginId?.(bearer) ?? hexDigestOf(`svc history\n${bearer.token}`).slice(0, 32);
