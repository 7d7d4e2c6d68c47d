import type { Missed } from '../receive/missed.ts';
import type { Place } from '../store/place.ts';
import type { Configured } from './config.ts';

export type ServeOptions = {
  readonly first: Configured;
  /** The configuration as it is now; throws where it has mistakes. */
  readonly read: () => Promise<Configured>;
  readonly placeOf: (configured: Configured) => Place;
  /** Never an empty list. */
  readonly secretsOf: (configured: Configured) => Promise<readonly string[]>;
  /** Those that svc has stored by now. */
  readonly storedSecrets: () => Promise<readonly string[]>;
  /** What never arrived, given the configuration of the moment. */
  readonly missed?: (current: () => Configured) => Promise<Missed>;
};
