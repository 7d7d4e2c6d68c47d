import { operationNamed, takes } from '../api/takes.ts';
import { body as block, fields } from '../output/thread.ts';
import type { Terminal } from '../output/view.ts';
import { readingWidth } from '../text/measure.ts';
import { readHtml } from '../text/reading.ts';
import { fieldsIn, isRecord, isTexts, textIn } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, wrap } from '../text/width.ts';
import { type Draft, type Step, textField, textOfStep } from './draft.ts';
import { sentBody } from './meant.ts';
import type { Thread } from './thread.ts';
import { draftInWords, isPublishing, nameOf, requestInWords, type Sending } from './words.ts';

/** Whom a draft reaches and what they get, as a person approves it. `entry`: what would become public, as it is now. */
export function draftBlocks(draft: Draft, terminal: Terminal, entry?: Thread['record']): string[] {
  const { operation, record, number, to, steps } = draft;
  const [first, ...later] = steps;
  const sending = { operation, record, number, to, body: first && sentBody(first) };
  return [
    filled(draftInWords(draft), terminal),
    ...sendBlocks(sending, terminal, draft.channel === 'changelog' ? entry : undefined),
    ...(first?.state === 'done' ? ['This was sent already.'] : []),
    later.map((step) => stepLines(step, terminal)).join('\n'),
  ].filter((one) => one !== '');
}

/** What a send says, or does where it says nothing, and all else that leaves with it. */
export function sendBlocks(sending: Sending, terminal: Terminal, entry?: Thread['record']): string[] {
  const { body } = sending;
  const name = textField(sending);
  const text = name === undefined ? undefined : String(fieldsIn(body)[name]);
  return [
    text === undefined ? filled(requestInWords(sending), terminal) : block(terminal, text),
    ...(entry ? entryBlocks(sending, terminal, entry) : []),
    ...otherBlocks(sending, [name, ...toldOtherwise(sending, entry)], terminal),
  ];
}

/** What is told in other words: nothing else is left out. */
function toldOtherwise({ operation: id, body }: Sending, entry: Thread['record']): readonly (string | undefined)[] {
  const { reaches, namedBy } = operationNamed(id) ?? {};
  const { title, labels } = fieldsIn(body);
  return [
    namedBy,
    ...(reaches === 'public' && isPublishing(body) ? ['status'] : []),
    ...(entry && textIn(title) !== undefined ? ['title'] : []),
    ...(entry && isTexts(labels) ? ['labels'] : []),
  ];
}

/**
 * Fields of a body as lines of their own. One line break in a value must not make two fields of it. What the request has
 * no place for, such as what the service makes itself, must not be taken for what becomes of it.
 */
function otherBlocks(
  { operation: id, body }: Pick<Sending, 'operation' | 'body'>,
  told: readonly (string | undefined)[],
  terminal: Terminal,
): string[] {
  const operation = operationNamed(id);
  const others = leavesOf(body).filter(([path]) => !told.includes(path));
  const isTaken = ([, , key]: Leaf) => operation === undefined || takes(operation, key);
  const linesOf = (leaves: readonly Leaf[]) =>
    leaves.map(([path, value]) => block(terminal, sanitize(`${path}: ${textOfValue(value)}`))).join('\n');
  const strange = linesOf(others.filter((leaf) => !isTaken(leaf)));
  return [linesOf(others.filter(isTaken)), strange && `${filled(strangeWords, terminal)}\n${strange}`];
}

const strangeWords = 'It also holds what svc does not know of such a request, and the service may leave out:';

type Leaf = readonly [path: string, value: unknown, first: string];

/** Each value where it stands: a key that holds a dot hides no other. */
const leavesOf = (value: unknown, keys: readonly string[] = []): readonly Leaf[] => {
  if (isRecord(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...keys, key]));
  const [first] = keys;
  return first === undefined ? [] : [[keys.join('.'), value, first]];
};

const textOfValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const filled = (text: string, { width }: Terminal): string =>
  wrap(sanitize(text), Math.max(1, readingWidth(width))).join('\n');

/** The entry as it is, with what may be changed of it as the draft has it: its HTML the service makes itself. */
export function publicEntry(body: unknown, entry: NonNullable<Thread['record']>) {
  const { title, labels, content } = fieldsIn(body);
  return {
    title: textIn(title) ?? entry.title,
    labels: isTexts(labels) ? labels : entry.labels,
    content: textIn(content) ?? entry.content_html,
  };
}

function entryBlocks(sending: Sending, terminal: Terminal, entry: NonNullable<Thread['record']>): string[] {
  const { title, labels, content } = publicEntry(sending.body, entry);
  const named = Array.isArray(labels) ? labels.join(', ') : '';
  const rows = [
    ['Title', sanitize(textIn(title) ?? '')],
    ['Labels', sanitize(named)],
  ] as const;
  // A text that the draft itself brings is shown as it is.
  const brings = textField(sending) !== undefined;
  return [fields(terminal, rows), brings ? '' : block(terminal, readHtml(textIn(content) ?? '').join('\n'))];
}

/** `then set status to pending`. What is done already says so. */
function stepLines(step: Step, terminal: Terminal): string {
  const done = step.state === 'done' ? ' (done already)' : '';
  const body = sentBody(step);
  const text = body === undefined ? null : textOfStep(step);
  if (text === null) return filled(`then ${changeInWords(step)}${done}`, terminal);
  const { of = 'The text' } = operationNamed(step.operation)?.effect ?? {};
  const what = `then ${of.replace(/^The /u, '')}${done}:`;
  const line = `${what} ${sanitize(text)}`;
  // No text may look like a step of its own.
  const isShort = !text.includes('\n') && cells(line) <= readingWidth(terminal.width);
  const others = otherBlocks(step, [textField(step)], terminal);
  return [isShort ? line : `${what}\n${block(terminal, text)}`, ...others].filter(Boolean).join('\n');
}

function changeInWords(step: Step): string {
  const { operation: id, method, path } = step;
  const operation = operationNamed(id);
  if (operation?.sets?.status === 'resolved') return 'resolve the conversation';
  const set = Object.entries(fieldsIn(sentBody(step))).map(([name, value]) => `${name} to ${textOfValue(value)}`);
  if (set.length > 0) return `set ${set.join(' and ')}`;
  return operation
    ? `svc ${operation.command.join(' ')} (${nameOf({ kind: operation.resource }, undefined)})`
    : `${method} ${path}`;
}
