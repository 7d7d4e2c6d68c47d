import type { Context } from '../../context.ts';
import { openLog } from '../../disk/append-log.ts';
import { withLock } from '../../disk/lock.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Arrival } from '../inbox/line.ts';

type Sending = {
  readonly to: string;
  /** Remembers what was sent, and where. */
  readonly journal: string;
  readonly timeoutMs: number;
};

export type Sent = { readonly sent: number; readonly repeated: number; readonly failed: number };

/** How often a URL that does not answer is tried. */
const tries = 3;

/** Sends each one to the URL, in order, and once: also where two do so at the same time, one after the other. */
export async function sendRebuilt(ctx: Context, arrivals: readonly Arrival[], sending: Sending): Promise<Sent> {
  const { journal, to } = sending;
  const waiting = { clock: ctx.clock, signal: ctx.signal, progress: ctx.progress, notice: ctx.notice };
  return withLock(`${journal}.lock`, { ...waiting, maxWaitMs: 3_600_000, what: 'another catch-up' }, async () => {
    const known = new Set<string>();
    const log = await openLog(journal, {
      take(text) {
        const line = lineIn(text.toString('utf8'));
        if (line?.to === to) known.add(line.id);
        return line !== undefined;
      },
    });
    const told = { sent: 0, repeated: 0, failed: 0 };
    try {
      for (const arrival of arrivals) {
        if (ctx.signal.aborted) break;
        if (known.has(arrival.id)) told.repeated++;
        else if (await post(ctx, arrival, sending)) {
          await log.append(`${JSON.stringify({ to, id: arrival.id })}\n`);
          told.sent++;
        } else told.failed++;
      }
    } finally {
      await log.close();
    }
    return told;
  });
}

async function post(
  { exchange, clock, signal, notice }: Context,
  arrival: Arrival,
  sending: Sending,
): Promise<boolean> {
  const { to, timeoutMs } = sending;
  for (let time = 1; ; time++) {
    const { headers, body } = arrival;
    const answer = await exchange({ method: 'POST', url: to, headers, body, timeoutMs, signal });
    if (!('lost' in answer) && answer.status >= 200 && answer.status < 300) return true;
    if (!('lost' in answer) || time >= tries || signal.aborted) {
      notice(`${arrival.id} was not taken: ${'lost' in answer ? answer.detail : `HTTP ${answer.status}`}`);
      return false;
    }
    await clock.sleep(1_000 * time, signal);
  }
}

function lineIn(text: string): { readonly to: string; readonly id: string } | undefined {
  try {
    const { to, id } = fieldsIn(JSON.parse(text));
    return typeof to === 'string' && typeof id === 'string' ? { to, id } : undefined;
  } catch {
    return undefined;
  }
}
