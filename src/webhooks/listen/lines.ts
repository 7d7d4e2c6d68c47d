import { counted } from '../../text/number.ts';
import type { Receipt } from '../receive/options.ts';
import type { EventLine } from '../store/event-line.ts';
import type { Forwarding } from '../store/forwarding.ts';

export function lineOf(receipt: Receipt, forward: Forwarding | null): EventLine {
  if (receipt.kind === 'rejected') {
    const { at, why, event } = receipt;
    const nothing = { id: null, created_at: null, data: null, forward: null };
    return { kind: 'event', time: at, event, verdict: 'rejected', ...nothing, why };
  }
  if (receipt.kind === 'unreadable') {
    const { id, event, at } = receipt.arrival;
    const verdict = { verdict: 'unreadable', why: receipt.why } as const;
    return { kind: 'event', time: at, event, id, ...verdict, created_at: null, data: null, forward };
  }
  const { id, event, created_at = null, data = null } = receipt.envelope;
  const time = receipt.kind === 'accepted' ? receipt.arrival.at : receipt.at;
  return { kind: 'event', time, event, id, verdict: receipt.kind, why: null, created_at, data, forward };
}

/** How many of each, for the summary at the end. */
export type Counts = {
  accepted: number;
  repeat: number;
  unreadable: number;
  rejected: number;
  forwarded: number;
  refused: number;
  failed: number;
};

export const noCounts = (): Counts => ({
  accepted: 0,
  repeat: 0,
  unreadable: 0,
  rejected: 0,
  forwarded: 0,
  refused: 0,
  failed: 0,
});

export function summaryOf(counts: Counts, waiting: number): string[] {
  const { accepted, repeat, unreadable, rejected, forwarded, refused, failed } = counts;
  const parts = [
    `${counted(accepted, 'event')} received`,
    unreadable > 0 && `${unreadable} unreadable`,
    repeat > 0 && `${repeat} repeated`,
    rejected > 0 && `${rejected} rejected`,
    forwarded > 0 && `${forwarded} forwarded`,
    refused > 0 && `${refused} answered with an error by the app`,
    failed > 0 && `${failed} not forwarded`,
  ];
  const lines = [`${parts.filter(Boolean).join(', ')}.`];
  if (waiting > 0) {
    lines.push(`${waiting} not forwarded yet: kept in the inbox until svc webhooks listen runs again.`);
  }
  return lines;
}
