import type { Findings } from './findings.ts';
import { type Contact, type Fallback, isTextField, type Mapping } from './mapping.ts';

/** Fills what goes as it is: a blank cell by the next column that holds the same. */
export function textFiller(
  { columns, fallbacks }: Mapping,
  findings: Pick<Findings, 'textsMoved'>,
): (contact: Contact, cells: readonly string[]) => void {
  const texts = columns.flatMap(({ index, to, fullName }) => (isTextField(to) && !fullName ? [{ index, to }] : []));
  const wholeName = columns.find(({ to, fullName }) => to === 'last_name' && fullName);
  return (contact, cells) => {
    for (const { index, to } of texts) {
      const text = cells[index]?.trim();
      if (text) contact[to] = text;
    }
    if (wholeName) {
      const text = cells[wholeName.index]?.trim() ?? '';
      fillLastName(contact, text, wholeName.fullName === 'any');
      if (text !== (contact.last_name ?? '')) findings.textsMoved++;
    }
    for (const fallback of fallbacks) {
      if (!contact[fallback.to] && fillFrom(fallback, contact, cells)) findings.textsMoved++;
    }
  };
}

/**
 * Of "Ada" and "Ada Lovelace", or "Lovelace, Ada", the last name is "Lovelace"; without a first name it stays whole.
 * `isAlone`: it may be the last name alone.
 */
function fillLastName(contact: Contact, text: string, isAlone: boolean): void {
  if (text === '') return;
  const first = contact.name;
  if (first === undefined) contact.name = text;
  else {
    const rest = withoutWord(text, first);
    if (rest !== '' && (isAlone || rest !== text)) contact.last_name = rest;
  }
}

function withoutWord(text: string, word: string): string {
  if (text === word) return '';
  if (text.startsWith(`${word} `)) return text.slice(word.length).trim();
  if (text.endsWith(`, ${word}`)) return text.slice(0, -word.length - 2).trim();
  return text.endsWith(` ${word}`) ? text.slice(0, -word.length).trim() : text;
}

/** Whether it had anything to fill it with. */
function fillFrom({ index, to, isFullName }: Fallback, contact: Contact, cells: readonly string[]): boolean {
  const text = isFullName && contact.last_name !== undefined ? undefined : cells[index]?.trim();
  if (text) contact[to] = text;
  return !!text;
}
