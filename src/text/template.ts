/** A text with `{{column}}` where something is filled in. */
export type Template = {
  readonly text: string;
  /** What stands between the braces, each once. */
  readonly placeholders: readonly string[];
};

const placeholder = /\{\{([^{}\r\n]*)\}\}/gu;

/** Undefined where braces are opened that are never closed, or hold no name. */
export function parseTemplate(text: string): Template | undefined {
  const names = [...text.matchAll(placeholder)].map(([, name = '']) => name.trim());
  if (names.includes('') || text.replaceAll(placeholder, '').includes('{{')) return undefined;
  return { text, placeholders: [...new Set(names)] };
}

/** The same template, however its placeholders are spaced. */
export const spelledPlainly = ({ text }: Template): string =>
  text.replaceAll(placeholder, (_, name: string) => `{{${name.trim()}}}`);

export type Filled = { readonly text: string } | { readonly missing: readonly string[] };

/** What is filled in is not read again: a value with braces in it stays as it is. */
export function fillTemplate({ text, placeholders }: Template, held: (name: string) => unknown): Filled {
  const values = new Map(placeholders.map((name) => [name, textOf(held(name))]));
  const missing = placeholders.filter((name) => (values.get(name) ?? '').trim() === '');
  if (missing.length > 0) return { missing };
  return { text: text.replaceAll(placeholder, (_, name: string) => values.get(name.trim()) ?? '') };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What lies at the end of a dotted path: `contact.name`. */
export const valueAt = (record: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, key)
          ? new Map(Object.entries(value)).get(key)
          : undefined,
      record,
    );

/** The names of the templates in a folder with these files. */
export const templateNames = (files: readonly string[]): readonly string[] =>
  [...new Set(files.filter((file) => !file.startsWith('.')).map((file) => file.replace(/\.md$/u, '')))].sort();
