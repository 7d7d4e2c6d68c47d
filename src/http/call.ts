import type { Session } from '../auth/session.ts';
import type { Context } from '../context.ts';
import type { Settings } from '../settings.ts';

/** What a call needs: the ports, who we are, and the settings of this run. */
export type Service = {
  readonly ctx: Context;
  readonly session: Session;
  readonly settings: Settings;
};
