import { parseDocument } from 'yaml';
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

const keys = ['title', 'version', 'category_id', 'labels', 'status', 'published_at'] as const;

/** A file of notes, taken apart. Text without front matter, or with a mere rule at its top, is all content. */
export function readNotes(file: string): Notes | { readonly problem: Problem } {
  const text = normalised(file);
  const match = /^---[ \t]*\n((?:.*\n)*?)---[ \t]*(?:\n|$)/u.exec(text);
  const plain = { fields: {}, content: text.trim(), line: 1, unknown: [] };
  if (!match) return plain;
  // Every scalar as it was typed: `version: 1.20` is not the number 1.2, and a date stays one.
  const document = parseDocument(match[1] ?? '', { schema: 'failsafe' });
  const [error] = document.errors;
  if (error) {
    const line = 1 + (error.linePos?.[0].line ?? 1);
    return { problem: { message: `The front matter is not valid YAML: ${error.message.split('\n')[0]}`, line } };
  }
  const value: unknown = document.toJS();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return plain;
  const fields: Record<string, unknown> = {};
  for (const key of keys) {
    if (!(key in value)) continue;
    const given = (value as Record<string, unknown>)[key];
    const labels =
      key === 'labels' && typeof given === 'string' ? given.split(',').map((label) => label.trim()) : given;
    const fits = key === 'labels' ? isTexts(labels) : typeof given === 'string';
    if (!fits) {
      const line = 1 + (match[1] ?? '').split('\n').findIndex((each) => each.startsWith(key)) + 1;
      return {
        problem: {
          message: `In the front matter, ${key} must be ${key === 'labels' ? 'a list of texts' : 'a text'}.`,
          line,
        },
      };
    }
    fields[key] = labels;
  }
  const rest = text.slice(match[0].length);
  return {
    fields: fields as FrontMatter,
    content: rest.trim(),
    line: match[0].split('\n').length + (/^\s*\n/u.exec(rest)?.[0].split('\n').length ?? 1) - 1,
    unknown: Object.keys(value).filter((key) => !(keys as readonly string[]).includes(key)),
  };
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
