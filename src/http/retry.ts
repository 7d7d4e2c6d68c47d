import type { Safety } from '../api/operation.ts';
import type { Lost } from '../context.ts';

/** How one attempt ended. `readable`: the body of a success is JSON. */
export type Outcome =
  | { readonly type: 'answered'; readonly status: number; readonly readable: boolean; readonly retryAfterMs?: number }
  | { readonly type: 'lost'; readonly lost: Lost['lost']; readonly reason: Lost['reason'] };

/** What has happened to this request so far, this attempt not counted. */
export type History = {
  /** Attempts that were refused by the rate limit, in a row. */
  readonly refusals: number;
  /** Attempts that never left. */
  readonly unsent: number;
  /** Attempts that the service may have acted on without our seeing a good answer. */
  readonly uncertain: number;
  /** The 401 was already answered with another token. */
  readonly renewed: boolean;
  /** Since the first attempt began. */
  readonly elapsedMs: number;
};

export type Rules = {
  readonly safety: Safety;
  /** A 404 on a repeated delete means that the first one worked. */
  readonly deletes: boolean;
  readonly maxWaitMs: number;
};

/** What to do next. `fail`: `as` says which story the user is told. */
export type Next =
  | { readonly next: 'accept' }
  | { readonly next: 'gone' }
  | { readonly next: 'renew' }
  | { readonly next: 'repeat'; readonly afterMs: number; readonly because: 'rate-limit' | 'unsent' | 'lost' }
  | { readonly next: 'look'; readonly afterMs: number }
  | { readonly next: 'fail'; readonly as: 'status' | 'unreadable' | 'rate-limited' | 'network' | 'unknown' };

/** A refused connection is tried three times within about two seconds. */
const unsentPauses = [500, 1200];
const lostPauses = [500, 1000, 2000];

/**
 * The one rule of repetition (product.md, section 6). Pure: the same history and outcome always lead to the same step.
 */
export function decide(rules: Rules, history: History, outcome: Outcome): Next {
  if (outcome.type === 'lost' && outcome.lost === 'before-sending') return afterUnsent(rules, history, outcome.reason);
  if (outcome.type === 'answered') {
    if (outcome.status === 429) return afterRefusal(rules, history, outcome.retryAfterMs);
    if (outcome.status === 401 && !history.renewed) return { next: 'renew' };
    if (outcome.status < 300 && outcome.readable) return { next: 'accept' };
    // The first attempt may have deleted it: what we wanted is so.
    if (outcome.status === 404 && rules.deletes && history.uncertain > 0) return { next: 'gone' };
    if (outcome.status >= 300 && outcome.status < 500) return { next: 'fail', as: 'status' };
  }
  return afterLoss(rules, history, outcome);
}

/** Nothing left this machine, so it is safe for all. */
function afterUnsent(rules: Rules, history: History, reason: Lost['reason']): Next {
  const afterMs = unsentPauses[history.unsent];
  const hopeless = reason === 'tls' || reason === 'aborted';
  if (afterMs !== undefined && !hopeless && fits(rules, history, afterMs)) {
    return { next: 'repeat', afterMs, because: 'unsent' };
  }
  return { next: 'fail', as: isInDoubt(rules, history) ? 'unknown' : 'network' };
}

/** The service did nothing, so it is safe for all. The wait grows only where the same request is refused again. */
function afterRefusal(rules: Rules, history: History, retryAfterMs = 1000): Next {
  const growth = Math.min(2 ** history.refusals - 1, 30) * 1000;
  const afterMs = retryAfterMs + growth;
  if (fits(rules, history, afterMs)) return { next: 'repeat', afterMs, because: 'rate-limit' };
  return { next: 'fail', as: isInDoubt(rules, history) ? 'unknown' : 'rate-limited' };
}

/** The service may have acted: a lost answer, one that cannot be read, or a server failure. */
function afterLoss(rules: Rules, history: History, outcome: Outcome): Next {
  const giveUp = { next: 'fail', as: reasonOf(rules.safety, outcome) } as const;
  if (rules.safety === 'once') return giveUp;
  const afterMs = lostPauses[history.uncertain];
  // The last look decides whether it was done, so a write that can be verified is always looked up.
  if (rules.safety === 'verify') return { next: 'look', afterMs: afterMs ?? 0 };
  if (afterMs === undefined || !fits(rules, history, afterMs)) return giveUp;
  return { next: 'repeat', afterMs, because: 'lost' };
}

/** After a look that found nothing: may the request be sent again? */
export const mayRepeatAfterLook = (rules: Rules, history: History): boolean =>
  lostPauses[history.uncertain] !== undefined && fits(rules, history, 0);

function reasonOf(safety: Safety, outcome: Outcome): 'status' | 'unreadable' | 'network' | 'unknown' {
  if (safety !== 'read') return 'unknown';
  if (outcome.type === 'lost') return 'network';
  return outcome.status < 300 ? 'unreadable' : 'status';
}

const fits = (rules: Rules, history: History, afterMs: number): boolean =>
  history.elapsedMs + afterMs <= rules.maxWaitMs;

const isInDoubt = (rules: Rules, history: History): boolean => rules.safety !== 'read' && history.uncertain > 0;
