import { Document, visit } from 'yaml';
import { escapeUnsafe } from '../text/sanitize.ts';

/** What some reader (YAML 1.1 and 1.2 differ) takes for a number, a time, a truth or a merge when it is not quoted. */
const ambiguous = /^(?:[-+.]?\d.*|[-+]?\.(?:inf|nan)|y|yes|n|no|on|off|true|false|null|~|<<|=)$/iu;

/** One YAML document that every reader understands alike, and that holds nothing a terminal obeys. */
export function toYaml(value: unknown): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      const { value } = node;
      if (typeof value !== 'string') return;
      if (ambiguous.test(value) || escapeUnsafe(value) !== value) node.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeUnsafe(document.toString({ lineWidth: 0 }));
}
