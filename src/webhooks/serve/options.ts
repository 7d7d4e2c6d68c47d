import type { Missed } from '../receive/missed.ts';
import type { Door } from '../receive/options.ts';
import type { Place } from '../store/place.ts';
import type { Configured } from './config.ts';
import type { Log } from './problems.ts';

export type MissedOf = { readonly missed: Missed; readonly account?: string };

export type ServeOptions = {
  readonly profile: string;
  readonly log: Log;
  readonly first: Configured;
  /** The configuration as it is now; throws where it has mistakes. */
  readonly read: () => Promise<Configured>;
  readonly placeOf: (configured: Configured) => Place;
  /** Where deliveries come in; each door has a secret. */
  readonly doorsOf: (configured: Configured) => Promise<readonly Door[]>;
  /** Those for which svc stores secrets, with what is stored by now. */
  readonly laterDoors: (configured: Configured) => Promise<readonly Door[]>;
  /** What never arrived, given the configuration of the moment: of each account that can be asked. */
  readonly missed?: (current: () => Configured) => Promise<readonly MissedOf[]>;
};
