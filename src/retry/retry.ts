import type { Safety } from '../api/operation.ts';
import type { Lost } from '../context.ts';

/**
 * How one attempt ended.
 * - `unsent`: it never left (DNS, a refused connection, the TLS handshake, a proxy that refuses it);
 * - `refused`: 429, nothing happened. `isForeign`: something else than the service said so, which proves nothing;
 * - `settled`: the service itself has answered, with a success or an error of its own. `isForeign`: a 401 that something
 *   else may have said, which proves nothing;
 * - `unsettled`: it began to leave, and anything else came of it. It may have worked, or may still be on its way.
 * `final`: trying again brings the same (a redirect, a page of another server), so only what was done is of interest.
 */
export type Outcome =
  | { readonly type: 'unsent'; readonly reason: Lost['reason'] }
  | { readonly type: 'refused'; readonly retryAfterMs?: number; readonly isForeign?: boolean }
  | { readonly type: 'settled'; readonly status: number; readonly isForeign?: boolean }
  | { readonly type: 'unsettled'; readonly final?: boolean };

/** What has happened to this request so far, this attempt not counted. */
export type History = {
  /** Attempts that were refused by the rate limit, in a row. */
  readonly refusals: number;
  /** Attempts that never left. */
  readonly unsent: number;
  /** Attempts that the service may have acted on without our seeing a good answer. */
  readonly doubts: number;
  /** The 401 was already answered with another token. */
  readonly renewed: boolean;
  /** Since the first attempt began. */
  readonly elapsedMs: number;
};

export const untried: History = { refusals: 0, unsent: 0, doubts: 0, renewed: false, elapsedMs: 0 };

type Refused = Extract<Outcome, { type: 'refused' }>;

export type Rules = {
  readonly safety: Safety;
  /** A 404 on a repeated delete means that the first one worked. */
  readonly deletes: boolean;
  /** An earlier run has sent it, and nobody knows whether it was done. */
  readonly wasSent?: boolean;
  /** A customer would hear it twice, so it is sent once, whatever comes of it. */
  readonly reachesCustomer: boolean;
  readonly maxWaitMs: number;
};

/**
 * What to do next. `look`: after which kind of ending; only after `unsettled` may the attempt still take effect, so
 * only there it is worth looking again, and only after `settled` may the request ever be sent again. `fail`: `as` says
 * which story the user is told; `answer` is that of the last attempt.
 */
export type Next =
  | { readonly next: 'accept' }
  | { readonly next: 'gone' }
  | { readonly next: 'renew' }
  | { readonly next: 'repeat'; readonly afterMs: number; readonly because: Cause }
  | { readonly next: 'look'; readonly after: 'settled' | 'final' | 'unsettled' }
  | { readonly next: 'fail'; readonly as: 'answer' | 'rate-limited' | 'network' | 'unknown' };

/** `foreign-limit`: the request may have worked all the same. */
export type Cause = 'rate-limit' | 'foreign-limit' | 'unsent' | 'doubt';

/** What has happened to a request that is about to be repeated for that cause. */
export function repeated(history: History, because: Cause): History {
  const { refusals, unsent, doubts } = history;
  if (because === 'rate-limit') return { ...history, refusals: refusals + 1 };
  if (because === 'foreign-limit') return { ...history, refusals: refusals + 1, doubts: Math.max(doubts, 1) };
  if (because === 'unsent') return { ...history, refusals: 0, unsent: unsent + 1 };
  return { ...history, refusals: 0, unsent: 0, doubts: doubts + 1 };
}

/** A refused connection is tried three times within about two seconds. */
const unsentPauses = [500, 1200];
const doubtPauses = [500, 1000, 2000];

/** Never less between two tries, whatever the service asks for. */
const shortestWaitMs = 250;

/** The one rule of repetition (docs/writes.md). Pure: the same history and outcome always lead to the same step. */
export function decide(rules: Rules, history: History, outcome: Outcome): Next {
  switch (outcome.type) {
    case 'unsent':
      return afterUnsent(rules, history, outcome.reason);
    case 'refused':
      return outcome.isForeign ? afterForeignLimit(rules, history, outcome) : afterRefusal(rules, history, outcome);
    case 'unsettled':
      return afterUnsettled(rules, history, outcome.final === true);
    case 'settled':
      return outcome.isForeign ? afterForeign401(rules, history) : afterAnswer(rules, history, outcome.status);
  }
}

/** Nothing left this machine, so it is safe for all. */
function afterUnsent(rules: Rules, history: History, reason: Lost['reason']): Next {
  const afterMs = unsentPauses[history.unsent];
  const isHopeless = reason === 'tls' || reason === 'aborted' || reason === 'proxy';
  if (afterMs !== undefined && !isHopeless && fits(rules, history, afterMs)) {
    return { next: 'repeat', afterMs, because: 'unsent' };
  }
  return { next: 'fail', as: inDoubt(rules, history) ? 'unknown' : 'network' };
}

/** The service did nothing, so it is safe for all. The wait grows only where the same request is refused again. */
function afterRefusal(rules: Rules, history: History, { retryAfterMs = 1000 }: Refused): Next {
  const growth = Math.min(2 ** history.refusals - 1, 30) * 1000;
  const afterMs = Math.max(shortestWaitMs, retryAfterMs) + growth;
  if (fits(rules, history, afterMs)) return { next: 'repeat', afterMs, because: 'rate-limit' };
  return { next: 'fail', as: inDoubt(rules, history) ? 'unknown' : 'rate-limited' };
}

/** What may be done twice waits as after the service's own; anything else is looked for, or stays unknown. */
function afterForeignLimit(rules: Rules, history: History, outcome: Refused): Next {
  if (rules.safety === 'verify') return { next: 'look', after: 'unsettled' };
  if (rules.safety === 'once') return { next: 'fail', as: 'unknown' };
  const next = afterRefusal(rules, history, outcome);
  if (rules.safety === 'read') return next;
  return next.next === 'repeat' ? { ...next, because: 'foreign-limit' } : { next: 'fail', as: 'unknown' };
}

/** Looking renews the login where that is what is wrong. What may be done twice is sent again with the new one. */
function afterForeign401(rules: Rules, history: History): Next {
  if (rules.safety === 'verify') return { next: 'look', after: 'unsettled' };
  if (rules.safety === 'once' || history.renewed) return { next: 'fail', as: 'unknown' };
  return { next: 'renew' };
}

function afterAnswer(rules: Rules, history: History, status: number): Next {
  if (status < 300) return { next: 'accept' };
  if (status === 401 && !history.renewed) return { next: 'renew' };
  // The first attempt may have deleted it: what we wanted is so.
  if (status === 404 && rules.deletes && (history.doubts > 0 || rules.wasSent)) return { next: 'gone' };
  if (status < 500) return { next: 'fail', as: inDoubt(rules, history) ? 'unknown' : 'answer' };
  // The service failed and says so: nothing of this attempt is still on its way ("check before retrying writes").
  if (rules.safety === 'verify') return { next: 'look', after: 'settled' };
  return repeatOrEnd(rules, history);
}

function afterUnsettled(rules: Rules, history: History, isFinal: boolean): Next {
  if (rules.safety === 'verify') return { next: 'look', after: isFinal ? 'final' : 'unsettled' };
  if (isFinal) return { next: 'fail', as: rules.safety === 'read' ? 'answer' : 'unknown' };
  return repeatOrEnd(rules, history);
}

/** For what may be done twice. */
function repeatOrEnd(rules: Rules, history: History): Next {
  const afterMs = doubtPauses[history.doubts];
  if (rules.safety !== 'once' && afterMs !== undefined && fits(rules, history, afterMs)) {
    return { next: 'repeat', afterMs, because: 'doubt' };
  }
  return { next: 'fail', as: rules.safety === 'read' ? 'answer' : 'unknown' };
}

/** What a look shows. `isAbsent`: of what was not there before surely nothing agrees, not even in part. */
export type Sight = { readonly after: 'settled' | 'final' | 'unsettled'; readonly isAbsent: boolean };

/** After a look that found nothing of ours. Sent again only where no earlier copy can still arrive. */
export function decideAfterLook(
  rules: Rules,
  history: History,
  { after, isAbsent }: Sight,
):
  | { readonly next: 'repeat'; readonly afterMs: number }
  | { readonly next: 'fail'; readonly as: 'unknown' | 'nothing-stored' } {
  if (after !== 'settled' || !isAbsent || rules.reachesCustomer) return { next: 'fail', as: 'unknown' };
  const afterMs = doubtPauses[history.doubts];
  if (afterMs === undefined || !fits(rules, history, afterMs)) return { next: 'fail', as: 'nothing-stored' };
  return { next: 'repeat', afterMs };
}

const fits = (rules: Rules, history: History, afterMs: number): boolean =>
  history.elapsedMs + afterMs <= rules.maxWaitMs;

/** What is looked for is sent again only where surely nothing of it was there. */
const inDoubt = ({ safety }: Rules, { doubts }: History): boolean =>
  safety !== 'read' && safety !== 'verify' && doubts > 0;
