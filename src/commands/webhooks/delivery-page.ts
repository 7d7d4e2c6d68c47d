import { localTime } from '../../output/cells.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Delivery } from '../../webhooks/store/delivery.ts';
import { outcomeInWords } from '../../webhooks/store/outcome-words.ts';

/** One delivery for people: what is known of it, its headers, its payload. */
export function page(delivery: Delivery, paint: (style: 'bold' | 'dim', text: string) => string): string {
  const { id, event, received_at: at, verdict, why, size, headers, envelope, body, base64, forwards } = delivery;
  const rows: [string, string][] = [
    ['Id', id],
    ['Event', event ?? '-'],
    ['Received', `${localTime(at)} (${size} bytes)`],
    ['Verdict', why === null ? verdict : `${verdict}: ${why}`],
    ...forwards.map((outcome): [string, string] => [
      outcome.replay ? 'Replayed' : 'Forwarded',
      `${localTime(outcome.at)} to ${outcome.to}: ${outcomeInWords(outcome)}`,
    ]),
  ];
  const lines = rows.map(([name, value]) => `${paint('bold', name.padEnd(10))} ${sanitize(value)}`);
  const head = Object.entries(headers).map(([name, value]) => `${paint('dim', sanitize(name))}: ${sanitize(value)}`);
  const payload = envelope === null ? (body ?? base64 ?? '') : JSON.stringify(envelope, undefined, 2);
  return [...lines, '', ...head, '', sanitize(payload, { keepNewlines: true })].join('\n');
}
