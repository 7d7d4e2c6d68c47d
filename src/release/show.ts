import { type DiffLine, diffLines, withContext } from './diff.ts';
import { type Action, type ChangeBody, type Entry, isScheduled } from './plan.ts';
import { readHtml, readMarkdown } from './reading.ts';

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

/** What a body changes, field by field, the content line by line as a reader sees it. */
export function changesOf(body: ChangeBody, entry: Entry | undefined): string[] {
  const lines: string[] = [];
  const row = (name: string, before: unknown, after: unknown) => {
    if (after === undefined) return;
    lines.push(entry ? `  ${name}: ${shown(before)} → ${shown(after)}` : `  ${name}: ${shown(after)}`);
  };
  row('title', entry?.title, body.title);
  row('version', entry?.version, body.version);
  row('category', entry?.category?.id, body.category_id);
  row('labels', entry?.labels, body.labels);
  row('status', entry?.status, body.status);
  row('published_at', entry?.published_at, body.published_at);
  if (body.content === undefined) return lines;
  const before = readHtml(entry?.content_html ?? '').flatMap((block) => block.split('\n'));
  const after = readMarkdown(body.content).flatMap((block) => block.split('\n'));
  return [...lines, '  content:', ...withContext(diffLines(before, after)).map(diffRow)];
}

const marks = { same: '|', gone: '-', new: '+' } as const;

const diffRow = (line: DiffLine | undefined): string => (line ? `    ${marks[line.kind]} ${line.text}` : '    …');

/** In one line, so that no value can look like a row of its own. */
const shown = (value: unknown): string => {
  const text = Array.isArray(value) ? value.join(', ') : String(value ?? '');
  return text.replaceAll(/\s+/gu, ' ') || 'none';
};
