import { pathsOf, valueAt } from '../output/fields.ts';
import { body as block, fields } from '../output/thread.ts';
import type { Terminal } from '../output/view.ts';
import { readHtml } from '../text/reading.ts';
import { fieldsIn, textIn } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, readingWidth, wrap } from '../text/width.ts';
import { type Draft, type Step, textField, textOfStep } from './draft.ts';
import type { Thread } from './thread.ts';
import { draftInWords, nameOf, operationNamed, requestInWords, type Sending } from './words.ts';

/** Whom a draft reaches and what they get, as a person approves it. `entry`: what would become public, as it is now. */
export function draftBlocks(draft: Draft, terminal: Terminal, entry?: Thread['record']): string[] {
  const { operation, record, number, to, steps } = draft;
  const [first, ...later] = steps;
  const sending = { operation, record, number, to, body: first?.body };
  return [
    filled(draftInWords(draft), terminal),
    ...sendBlocks(sending, terminal, draft.channel === 'changelog' ? entry : undefined),
    ...(first?.state === 'done' ? ['This was sent already.'] : []),
    later.map((step) => stepLines(step, terminal)).join('\n'),
  ].filter((one) => one !== '');
}

/** What a send says, or does where it says nothing. */
export function sendBlocks(sending: Sending, terminal: Terminal, entry?: Thread['record']): string[] {
  const { body } = sending;
  const name = textField(body);
  const text = name === undefined ? undefined : String(fieldsIn(body)[name]);
  const isShown = (path: string) => path !== name && !(entry ? inEntry : inWords).includes(path);
  const others = pathsOf(body)
    .filter(isShown)
    .map((path) => `${path}: ${textOfValue(valueAt(body, path))}`);
  return [
    text === undefined ? filled(requestInWords(sending), terminal) : block(terminal, text),
    ...entryBlocks(body, terminal, entry),
    // One line break in a value must not make two fields of it.
    others.map((line) => block(terminal, sanitize(line))).join('\n'),
  ];
}

/** These are told in other words. */
const inWords = ['status', 'trigger'];
const inEntry = ['status', 'title', 'labels', 'content', 'content_html'];

const textOfValue = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const filled = (text: string, { width }: Terminal): string =>
  wrap(sanitize(text), Math.max(1, readingWidth(width))).join('\n');

/** The entry as it is, with what the draft changes of it. */
export function publicEntry(body: unknown, entry: NonNullable<Thread['record']>) {
  const { title, content, content_html: html = content, labels } = { ...entry, ...fieldsIn(body) };
  return { title, labels, content: html };
}

function entryBlocks(body: unknown, terminal: Terminal, entry: Thread['record']): string[] {
  if (!entry) return [];
  const { title, labels, content } = publicEntry(body, entry);
  const named = Array.isArray(labels) ? labels.join(', ') : '';
  const rows = [
    ['Title', sanitize(textIn(title) ?? '')],
    ['Labels', sanitize(named)],
  ] as const;
  // A text that the draft itself brings is shown as it is.
  const brings = textField(body) !== undefined;
  return [fields(terminal, rows), brings ? '' : block(terminal, readHtml(textIn(content) ?? '').join('\n'))];
}

/** `then set status to pending`. What is done already says so. */
function stepLines(step: Step, terminal: Terminal): string {
  const done = step.state === 'done' ? ' (done already)' : '';
  const text = textOfStep(step);
  if (text !== null) {
    const { of = 'The text' } = operationNamed(step.operation)?.effect ?? {};
    const what = `then ${of.replace(/^The /u, '')}${done}:`;
    const line = `${what} ${sanitize(text)}`;
    // No text may look like a step of its own.
    const isShort = !text.includes('\n') && cells(line) <= readingWidth(terminal.width);
    return isShort ? line : `${what}\n${block(terminal, text)}`;
  }
  return filled(`then ${changeInWords(step)}${done}`, terminal);
}

function changeInWords({ operation: id, method, path, body }: Step): string {
  const operation = operationNamed(id);
  const set = Object.entries(fieldsIn(body)).map(([name, value]) => `${name} to ${textOfValue(value)}`);
  if (set.length > 0) return `set ${set.join(' and ')}`;
  if (operation?.sets?.status === 'resolved') return 'resolve the conversation';
  return operation
    ? `svc ${operation.command.join(' ')} (${nameOf({ kind: operation.resource }, undefined)})`
    : `${method} ${path}`;
}
