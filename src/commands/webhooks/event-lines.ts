import type { Terminal } from '../../output/view.ts';
import { ownOf } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { cells, cut, pad, wrap } from '../../text/width.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { isGood } from '../../webhooks/listen/report.ts';
import { type Refusal, refusals } from '../../webhooks/receive/judge.ts';
import type { EventLine, Line } from '../../webhooks/store/event-line.ts';
import type { Forwarding } from '../../webhooks/store/forwarding.ts';
import { lossInWords, taken } from '../../webhooks/store/outcome-words.ts';

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
    const color = ownOf(colors, line.event ?? '');
    const name = pad(cut(event, eventWidth), eventWidth);
    const startWith = (state: string) =>
      [
        paint('dim', clockTime(line.time)),
        color ? paint(color, name) : name,
        paint('dim', pad(cut(id, idWidth), idWidth)),
        paint(styleOf(line), pad(`${markOf(line)} ${state}`, 16)),
      ].join('  ');
    const start = startWith(told(line, lossInWords));
    const room = width - cells(start) - 2;
    const reason = reasonOf(line);
    // What went wrong is never cut: where it has no room beside the rest, it stands below.
    const fits = reason === undefined || (isReason(line) ? cells(fields) <= room : room >= -2);
    if (fits) return `${start}  ${cut(fields, Math.max(room, 0))}`.trimEnd();
    const short = startWith(told(line, briefly));
    const beside = isReason(line) ? '' : cut(fields, Math.max(width - cells(short) - 2, 0));
    const below = wrap(reason, width - indent.length).map((text) => `${indent}${paint(styleOf(line), text)}`);
    return [`${short}  ${beside}`.trimEnd(), ...below].join('\n');
  };
}

/** As wide as the time and the blanks behind it. */
const indent = ' '.repeat(10);

/** The fields of such a line say what is wrong with it. */
const isReason = (line: Line): boolean =>
  line.kind === 'event' && (line.verdict === 'rejected' || line.verdict === 'unreadable');

/** What became of it, whole; undefined where the state alone tells. */
function reasonOf(line: Line): string | undefined {
  if (isReason(line)) return sanitize(fieldsOf(line));
  const { forward } = line;
  if (!forward || forward.state === 'answered') return forward ? forwardOf(forward) : undefined;
  return forward.error === null ? undefined : lossInWords(forward.error);
}

function fieldsOf(line: Line): string {
  if (line.kind === 'forward') return '';
  if (line.verdict === 'rejected') return refusals[line.why as Refusal];
  return line.verdict === 'unreadable' ? (line.why ?? '') : mainFields(line.event, line.data);
}

/** Of a later try: what it came to. */
function verdictOf(line: Line): EventLine['verdict'] | 'forwarded' | 'waiting' | 'failed' {
  if (line.kind === 'event') return line.verdict;
  return line.forward.state === 'answered' ? 'forwarded' : line.forward.state;
}

const marks: Partial<Record<string, string>> = { accepted: '✓', repeat: '↻', unreadable: '?', rejected: '✗' };

/** What the app did not take is a failure, also where svc itself has done its part. */
function markOf(line: Line): string {
  if (isRefused(line.forward)) return '✗';
  const isWaiting = line.forward?.state === 'waiting' && verdictOf(line) === 'accepted';
  return isWaiting ? '…' : (marks[verdictOf(line)] ?? '→');
}

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

/** What went wrong is told elsewhere. */
const briefly = (): string => '';

/** `say`: the words for what went wrong. */
function told(line: Line, say: (error: string) => string): string {
  if (line.kind === 'forward') return forwardOf(line.forward, say);
  if (line.verdict === 'rejected') return 'rejected';
  if (line.verdict === 'repeat') return 'repeat, dropped';
  const forward = forwardOf(line.forward, say);
  if (line.verdict === 'unreadable') return `unreadable${forward && `, ${forward}`}`;
  return forward || 'stored';
}

function forwardOf(forward: Forwarding | null, say = (error: string) => error): string {
  if (!forward) return '';
  const { state, status, error, ms, tries } = forward;
  const why = say(error ?? '');
  const because = why === '' ? '' : ` (${why})`;
  if (state === 'waiting') return `waiting${because}`;
  if (state === 'failed') return `not forwarded${because}`;
  const answer = status ?? taken;
  if (say === briefly) return String(answer);
  return `${answer} in ${ms} ms${tries > 1 ? `, try ${tries}` : ''}`;
}

function styleOf(line: Line): Parameters<Terminal['paint']>[0] {
  if (line.kind === 'event' && line.verdict !== 'accepted') {
    return ({ repeat: 'dim', unreadable: 'orange', rejected: 'red' } as const)[line.verdict];
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
