import { listFeedback } from '../api/feedback.ts';
import { fitted } from '../api/fit.ts';
import type { Output } from '../api/operation.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call/call.ts';
import { sanitize } from '../text/sanitize.ts';

/** For a list of feedback posts that is empty: a note with the statuses that posts have, where this is none of them. */
export async function tellPostStatuses(service: Service, status: string): Promise<void> {
  const { ctx } = service;
  try {
    const answer = await call(service, listFeedback, { query: { per_page: 100 } });
    const { posts } = fitted(listFeedback.response, answer) as Output<typeof listFeedback>;
    const known = new Set(posts.map((post) => post.status));
    if (known.size === 0 || known.has(status)) return;
    ctx.notice(`No post has the status ${sanitize(status)}. Posts have: ${sanitize([...known].sort().join(', '))}.`);
  } catch (error) {
    // The list itself was read, and is empty.
    if (ctx.signal.aborted || !(error instanceof Failure)) throw error;
  }
}
