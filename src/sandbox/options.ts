import type { WebhookEvent } from '../api/webhooks.ts';
import type { Keys } from './keys.ts';
import type { Bucket, LimitMode } from './limits.ts';
import type { Served } from './served.ts';
import type { Rows } from './store/records.ts';
import type { StateFile } from './store/state-file.ts';

export type SandboxOptions = {
  readonly seed?: 'demo' | 'empty' | Partial<Rows>;
  /** Those that everybody knows, where it is left out. */
  readonly keys?: Keys;
  readonly rateLimit?: LimitMode;
  readonly now?: () => Date;
  readonly random?: (bytes: number) => Uint8Array;
  readonly consent?: 'page' | 'auto';
  readonly allowHttpTargets?: boolean;
  readonly latencyMs?: number;
  /** Answers browsers of any origin. */
  readonly cors?: boolean;
  /** Keeps the state beyond this process; without one it lives in memory. */
  readonly stateFile?: Pick<StateFile, 'state' | 'commit' | 'replace'>;
  /** What it serves instead of the whole service, for a table with more in it. */
  readonly serves?: Served;
  /** Told of each request in one line, its secrets redacted. */
  readonly onRequest?: (line: string) => void;
  /** Told of each event, whether or not anybody subscribes to it. */
  readonly onEvent?: (event: WebhookEvent, data: object) => void;
  /** Told of the limits that each request counts for. */
  readonly onCounted?: (buckets: readonly Bucket[]) => void;
  readonly sleep?: (ms: number) => Promise<void>;
};
