import { diffArrays } from 'diff';
import { readHtml, readMarkdown } from '../text/reading.ts';
import { type Action, type ChangeBody, type Entry, isScheduled } from './plan.ts';

/** One line about what was done, for people and for logs. Holds text of customers. */
export function sentenceOf(action: Action, entry: Entry, changes: readonly string[]): string {
  const name = `entry ${entry.id} (${entry.title})`;
  const state = stateOf(entry);
  switch (action) {
    case 'created':
      return `Created ${name}, ${state}.`;
    case 'published':
      return isScheduled(entry) ? `Published ${name}, ${state}.` : `Published ${name}.`;
    case 'updated':
      return `Updated ${name}: ${changes.join(', ')}.`;
    case 'unchanged':
      return `Entry ${entry.id} (${entry.title}) is already up to date and ${state}.`;
  }
}

function stateOf(entry: Entry): string {
  if (entry.status === 'draft') return 'a draft';
  return isScheduled(entry) ? `scheduled for ${entry.published_at}` : 'published';
}

/** The same of what would be done. */
export function intentionOf(action: Action, entry: Entry | undefined, body: ChangeBody | undefined): string {
  if (!entry) return `Would create an entry (${body?.title}), ${body?.status === 'draft' ? 'a draft' : 'published'}.`;
  if (action === 'unchanged') return sentenceOf(action, entry, []);
  const verb = action === 'published' ? 'publish' : 'update';
  return `Would ${verb} entry ${entry.id} (${entry.title}).`;
}

/** A field that would change. The content is what a reader sees, line by line. */
export type Difference = {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly lines?: readonly DiffLine[];
};

const plainFields = ['title', 'version', 'category_id', 'labels', 'status', 'published_at'] as const;

/** What a body changes, field by field; before a new entry there was nothing. */
export function differencesIn(body: ChangeBody, entry: Entry | undefined): Difference[] {
  const before = { ...entry, category_id: entry?.category?.id };
  const all: Difference[] = plainFields
    .filter((field) => body[field] !== undefined)
    .map((field) => ({ field, before: before[field] ?? null, after: body[field] }));
  if (body.content === undefined) return all;
  const old = linesIn(readHtml(entry?.content_html ?? ''));
  const now = linesIn(readMarkdown(body.content));
  const lines = diffLines(old, now);
  return [...all, { field: 'content', before: entry ? old.join('\n') : null, after: now.join('\n'), lines }];
}

const linesIn = (reading: readonly string[]): string[] => reading.flatMap((block) => block.split('\n'));

/** The same in rows for people. */
export function rowsOf(differences: readonly Difference[], { isNew }: { readonly isNew: boolean }): string[] {
  return differences.flatMap(({ field, before, after, lines }) => {
    const name = field === 'category_id' ? 'category' : field;
    if (lines) return [`  ${name}:`, ...withContext(lines).map(diffRow)];
    return isNew ? `  ${name}: ${shown(after)}` : `  ${name}: ${shown(before)} → ${shown(after)}`;
  });
}

const marks = { same: '|', gone: '-', new: '+' } as const;

const diffRow = (line: DiffLine | undefined): string => (line ? `    ${marks[line.kind]} ${line.text}` : '    …');

/** In one line, so that no value can look like a row of its own. */
const shown = (value: unknown): string => {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
  return text.replaceAll(/\s+/gu, ' ') || 'none';
};

export type DiffLine = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string };

/** Beyond this many changed lines a text counts as rewritten: the search takes time by the square of them. */
const mostChanges = 1_000;

/** The lines of both texts in order, those that both hold once: what a reader of a diff expects. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: mostChanges });
  if (!changes) return [...linesOf('gone', before), ...linesOf('new', after)];
  return changes.flatMap(({ added, removed, value }) => {
    if (added) return linesOf('new', value);
    return linesOf(removed ? 'gone' : 'same', value);
  });
}

const linesOf = (kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] => texts.map((text) => ({ kind, text }));

/** The changed lines with `around` unchanged ones beside them; a gap is undefined. */
export function withContext(lines: readonly DiffLine[], around = 2): (DiffLine | undefined)[] {
  const shown = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some((near) => near.kind !== 'same'),
  );
  return lines.flatMap((line, i) => {
    if (shown[i]) return [line];
    return shown[i - 1] || i === 0 ? [undefined] : [];
  });
}
