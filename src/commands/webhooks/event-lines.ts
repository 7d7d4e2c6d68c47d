import type { Terminal } from '../../output/view.ts';
import { sanitize } from '../../text/sanitize.ts';
import { cells, cut, pad } from '../../text/width.ts';
import type { EventLine, Line } from '../../webhooks/lines.ts';
import { mainFields } from '../../webhooks/main-fields.ts';
import { type Refusal, refusals } from '../../webhooks/receiving/judge.ts';
import { isGood } from '../../webhooks/report.ts';
import type { Forwarding } from '../../webhooks/sinks/forward.ts';

/** Lines that stay aligned: the column of ids grows with the longest one, and gives way on a narrow terminal. */
export function printer() {
  let widest = 12;
  return (line: Line, terminal: Terminal | undefined): string => {
    const fields = sanitize(fieldsOf(line));
    const id = sanitize(line.id ?? '-');
    const event = sanitize(line.event ?? '-');
    if (!terminal) return [line.time, event, id, fields, verdictOf(line), forwardOf(line.forward)].join('\t');
    const { paint, width } = terminal;
    widest = Math.min(40, Math.max(widest, cells(id)));
    const idWidth = Math.max(10, Math.min(widest, width - 100));
    const eventWidth = width < 100 ? 19 : 29;
    const color = line.event !== null && Object.hasOwn(colors, line.event) ? colors[line.event] : undefined;
    const name = pad(cut(event, eventWidth), eventWidth);
    const start = [
      paint('dim', clockTime(line.time)),
      color ? paint(color, name) : name,
      paint('dim', pad(cut(id, idWidth), idWidth)),
      paint(styleOf(line), pad(`${markOf(line)} ${told(line)}`, 16)),
    ].join('  ');
    return `${start}  ${cut(fields, Math.max(width - cells(start) - 2, 0))}`.trimEnd();
  };
}

function fieldsOf(line: Line): string {
  if (line.kind === 'forward') return '';
  if (line.verdict === 'rejected') return refusals[line.why as Refusal];
  return line.verdict === 'unreadable' ? (line.why ?? '') : mainFields(line.event, line.data);
}

const verdictOf = (line: Line): EventLine['verdict'] | 'forwarded' =>
  line.kind === 'event' ? line.verdict : 'forwarded';

const marks: Partial<Record<string, string>> = { accepted: '✓', repeat: '↻', unreadable: '?', rejected: '✗' };

/** What the app did not take is a failure, also where svc itself has done its part. */
const markOf = (line: Line): string => (isRefused(line.forward) ? '✗' : (marks[verdictOf(line)] ?? '→'));

const isRefused = (forward: Forwarding | null): boolean =>
  forward?.state === 'failed' || (forward?.state === 'answered' && !isGood(forward));

/** A colour for each event, so that the eye finds its kind; red is kept for what went wrong. */
const colors: Readonly<Record<string, Parameters<Terminal['paint']>[0]>> = {
  'contact.created': 'green',
  'call.completed': 'magenta',
  'ticket.created': 'orange',
  'conversation.message_received': 'cyan',
  'changelog.published': 'blue',
  'feedback.created': 'bold',
};

function told(line: Line): string {
  if (line.kind === 'forward') return forwardOf(line.forward);
  if (line.verdict === 'rejected') return 'rejected';
  if (line.verdict === 'repeat') return 'repeat, dropped';
  const forward = forwardOf(line.forward);
  if (line.verdict === 'unreadable') return `unreadable${forward && `, ${forward}`}`;
  return forward || 'stored';
}

function forwardOf(forward: Forwarding | null): string {
  if (!forward) return '';
  const { state, status, error, ms, tries } = forward;
  if (state === 'waiting') return `waiting${error ? ` (${error})` : ''}`;
  if (state === 'failed') return `not forwarded (${error})`;
  return `${status} in ${ms} ms${tries > 1 ? `, try ${tries}` : ''}`;
}

function styleOf(line: Line): Parameters<Terminal['paint']>[0] {
  if (line.kind === 'event' && line.verdict !== 'accepted') {
    return { repeat: 'dim', unreadable: 'orange', rejected: 'red' }[line.verdict] as 'dim' | 'orange' | 'red';
  }
  const { forward } = line;
  if (forward?.state === 'waiting') return 'orange';
  if (isRefused(forward)) return 'red';
  return 'green';
}

const clockTime = (iso: string): string => {
  const time = new Date(iso);
  return [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
};
