import { earlier, type KindState, later, minus, overlapMs, type Sweep, type Sweeping } from '../store/state.ts';
import { type KindName, kindOf } from '../tables/kinds.ts';
import type { Pulling } from './pulling.ts';
import { isFollowing } from './reading.ts';

/** Several machines of a service need not agree to the second; the overlap of two readings covers as much. */
const toleranceMs = 60_000;
/** Nobody follows an account with a longer pause between two looks. */
const longestPauseMs = 86_400_000;

type Moment = NonNullable<KindState['clock']>;

/** What has to be read in place of the reading that is under way. */
type Again = { readonly state: KindState; readonly wanted: Pick<Sweep, 'whole' | 'forced' | 'since'> };

/**
 * Undefined where the service's clock goes on as it did. A clock that stepped back dates changes before the cursor, where
 * nobody would look for them.
 */
export function checkClock(pulling: Pulling, name: KindName, state: Sweeping): Again | undefined {
  const service = pulling.serviceTime();
  const { sweep, cursor, clock } = state;
  if (service === null || kindOf(name).incremental === 'whole list') return undefined;
  const now = Date.parse(service);
  const newest = later(later(cursor, sweep.started), clock?.service ?? null);
  const local = { service, local: pulling.now() };
  if (newest !== null && now < Date.parse(newest) - toleranceMs) {
    return behind(pulling, name, state, local);
  }
  // Less time has passed there than here: it stepped back, and has passed the cursor again since.
  const droppedMs = clock ? Date.parse(pulling.now()) - Date.parse(clock.local) - (now - Date.parse(clock.service)) : 0;
  if (droppedMs < toleranceMs || sweep.since === null || sweep.isTail || sweep.page > 1) return undefined;
  const since = minus(cursor, overlapMs + droppedMs);
  return { state: { ...state, clock: local, sweep: null }, wanted: { whole: false, forced: false, since } };
}

/** It shows a time before one that it showed already. From when on is not known, so the whole list is read. */
function behind(pulling: Pulling, name: KindName, state: Sweeping, clock: Moment): Again | undefined {
  const { sweep, followedFrom } = state;
  const isFollowed = isFollowing(pulling, state);
  if (kindOf(name).incremental === 'newest first' && !isFollowed) return undefined;
  if (!isFollowed) {
    const wanted = { whole: true, forced: sweep.forced, since: null };
    return { state: { ...state, clock, cursor: null, sweep: null }, wanted };
  }
  // Since the last look at most.
  const pausedMs = state.clock ? Date.parse(clock.local) - Date.parse(state.clock.local) : 0;
  const from = minus(clock.service, overlapMs + Math.min(longestPauseMs, Math.max(0, pausedMs)));
  const moved = { ...state, clock, cursor: from, followedFrom: earlier(followedFrom, from), sweep: null };
  const since = kindOf(name).incremental === 'updates' ? minus(from, overlapMs) : null;
  return { state: moved, wanted: { whole: false, forced: false, since } };
}
