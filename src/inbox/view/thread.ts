import { timeForPeople } from '../../output/cells.ts';
import type { Style } from '../../output/view.ts';
import { hasWidths, wrap } from '../../screen/width.ts';
import { readingWidth } from '../../text/measure.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Model } from '../model.ts';
import type { Thread, ThreadMessage } from '../row.ts';
import { blank, type Line, line, type Part, widthOf } from './parts.ts';
import { threadWidth } from './sizes.ts';

type Laid = {
  readonly width: number;
  readonly minute: number;
  readonly isExact: boolean;
  readonly lines: readonly Line[];
};

/** A thread is laid out once for each width, once a minute for its times, and once more when emoji can be measured. */
const laid = new WeakMap<Thread, Laid>();

/** Every line of the open thread. */
export function threadLines(model: Model): readonly Line[] {
  const { opened, now } = model;
  if (!opened) return [line('Nothing is open.', 'dim')];
  if (opened.failed !== undefined) return wrapped(opened.failed, threadWidth(model)).map((text) => line(text, 'red'));
  if (!opened.thread) return [line('…', 'dim')];
  const width = Math.max(10, readingWidth(threadWidth(model)));
  const minute = Math.floor(now / 60_000);
  const known = laid.get(opened.thread);
  const isExact = hasWidths();
  if (known && known.width === width && known.minute === minute && known.isExact === isExact) return known.lines;
  const lines = laidOut(opened.thread, width, new Date(now));
  laid.set(opened.thread, { width, minute, isExact, lines });
  return lines;
}

function laidOut({ title, facts, fields, messages }: Thread, width: number, now: Date): Line[] {
  return [
    ...wrapped(title, width).map((text) => line(text, 'bold')),
    ...wrapped(facts.map((fact) => sanitize(fact)).join(' · '), width).map((text) => line(text, 'dim')),
    ...fields.flatMap(([name, value]) => fieldLines(name, value, width)),
    ...messages.flatMap((message) => [blank, ...messageLines(message, width, now)]),
  ];
}

const wrapped = (text: string, width: number): string[] => wrap(sanitize(text), Math.max(1, width));

const fieldRoom = 10;

function fieldLines(name: string, value: string, width: number): Line[] {
  const [first = '', ...more] = wrapped(value, width - fieldRoom);
  return [
    [{ text: `${name.padEnd(fieldRoom - 1)} `, style: 'dim' }, { text: first }],
    ...more.map((text) => line(`${' '.repeat(fieldRoom)}${text}`)),
  ];
}

const styles: Readonly<Record<ThreadMessage['side'], Style>> = { customer: 'cyan', team: 'green', ai: 'magenta' };

function messageLines({ who, side, at, body, files }: ThreadMessage, width: number, now: Date): Line[] {
  const name = sanitize(who) || side;
  const about = `${side === 'ai' ? 'AI' : side} · ${timeForPeople(at, now)}`;
  const text = wrap(sanitize(body.trim(), { keepNewlines: true }), Math.max(1, width - 2));
  return [
    ...headLines({ text: name, style: styles[side] }, { text: `  ${about}`, style: 'dim' }, width),
    ...text.map((one) => (one === '' ? blank : line(`  ${one}`))),
    ...files.flatMap((file) =>
      wrapped(file, width - 4).map((one, part) => line(`  ${part === 0 ? '+' : ' '} ${one}`, 'dim')),
    ),
  ];
}

/** A name that leaves what is said of it no room has lines of its own. */
function headLines(name: Part, about: Part, width: number): Line[] {
  if (widthOf([name, about]) <= width) return [[name, about]];
  return [...wrap(name.text, width).map((text) => ({ ...name, text })), about].map((part) => [part]);
}
