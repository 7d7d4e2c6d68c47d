import { counted } from '../../text/number.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Forwarding } from '../../webhooks/store/forwarding.ts';

type Listed = { readonly sinks: readonly string[] | undefined; readonly forward: Forwarding | null | undefined };

/** A sentence for each place that events wait for, and who brings them there; those of five places at most. */
export function waitingNotes(listed: readonly Listed[], still = ''): string[] {
  const places = new Map<string, number>();
  for (const { sinks, forward } of listed) {
    if (forward?.state !== 'waiting') continue;
    const place = placeOf(sinks !== undefined, forward.to);
    places.set(place, (places.get(place) ?? 0) + 1);
  }
  return [...places]
    .slice(0, 5)
    .map(([place, count]) => `${counted(count, 'event')} ${still}${count === 1 ? 'waits' : 'wait'} for ${place}`);
}

function placeOf(isOfServe: boolean, to: string | null): string {
  if (to === null) return 'the next svc webhooks listen --forward-to URL.';
  const named = sanitize(to);
  return isOfServe
    ? `${named}: svc webhooks serve delivers what waits for a sink, in order.`
    : `${named}: svc webhooks listen forwards what waits, in order, while it runs.`;
}
