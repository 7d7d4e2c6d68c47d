import { parseDocument } from 'yaml';
import { messageOf } from '../errors.ts';
import { isTexts } from '../text/record.ts';
import type { Problem } from './pick.ts';
import { normalised } from './section.ts';

/** Fields of a changelog entry that may stand above its text, between two lines of `---`. */
export type FrontMatter = {
  readonly title?: string;
  readonly version?: string;
  readonly category_id?: string;
  readonly labels?: readonly string[];
  readonly status?: string;
  readonly published_at?: string;
};

export type Notes = {
  readonly fields: FrontMatter;
  readonly content: string;
  /** Line of the content's first line. */
  readonly line: number;
  /** Keys that an entry does not have. */
  readonly unknown: readonly string[];
};

const texts = ['title', 'version', 'category_id', 'status', 'published_at'] as const;
const keys: ReadonlySet<string> = new Set([...texts, 'draft', 'labels']);

type Faulty = { readonly problem: Problem };

/** A file of notes, taken apart. Text without front matter, or with a mere rule at its top, is all content. */
export function readNotes(file: string): Notes | Faulty {
  const text = normalised(file);
  const match = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/u.exec(text);
  const plain = { fields: {}, content: text.trim(), line: 1, unknown: [] };
  if (!match) return plain;
  const [above, yaml = ''] = match;
  // Every scalar as it was typed: `version: 1.20` is not the number 1.2, and a date stays one.
  const document = parseDocument(yaml, { schema: 'failsafe' });
  const invalid = (message: string, line = 1): Faulty => ({
    problem: { message: `The front matter is not valid YAML: ${message.split('\n')[0]}`, line: 1 + line },
  });
  const [error] = document.errors;
  if (error) return invalid(error.message, error.linePos?.[0].line);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (failure) {
    // Aliases that lead nowhere, or that multiply without end.
    return invalid(messageOf(failure));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return plain;
  const given = new Map<string, unknown>(Object.entries(value));
  const read = fieldsIn(given, yaml);
  if ('problem' in read) return read;
  const rest = text.slice(above.length);
  return {
    fields: read.fields,
    content: rest.trim(),
    line: above.split('\n').length + (/^\s*\n/u.exec(rest)?.[0].split('\n').length ?? 1) - 1,
    unknown: [...given.keys()].filter((key) => !keys.has(key)),
  };
}

function fieldsIn(given: ReadonlyMap<string, unknown>, yaml: string): { readonly fields: FrontMatter } | Faulty {
  const faulty = (key: string, kind: string): Faulty => {
    const line = 1 + yaml.split('\n').findIndex((each) => each.startsWith(key)) + 1;
    return { problem: { message: `In the front matter, ${key} must be ${kind}.`, line } };
  };
  const fields: { -readonly [Key in keyof FrontMatter]: FrontMatter[Key] } = {};
  for (const key of texts) {
    if (!given.has(key)) continue;
    const value = given.get(key);
    if (typeof value !== 'string') return faulty(key, 'a text');
    fields[key] = value;
  }
  // It is how site generators say it.
  const draft = String(given.get('draft') ?? '')
    .trim()
    .toLowerCase();
  if (!['', 'null', 'true', 'false'].includes(draft)) return faulty('draft', 'true or false');
  if (draft === 'true') {
    if (fields.status?.trim().toLowerCase() === 'published') return faulty('draft', 'false beside status: published');
    fields.status = 'draft';
  }
  if (given.has('labels')) {
    const value = given.get('labels');
    const labels = typeof value === 'string' ? value.split(',').map((label) => label.trim()) : value;
    if (!isTexts(labels)) return faulty('labels', 'a list of texts');
    fields.labels = labels;
  }
  return { fields };
}
