import { syncChunkSize } from '../api/contacts.ts';
import type { ImportFlags } from './flags.ts';
import type { Plan } from './plan.ts';
import { usualSeparator } from './tags.ts';

/**
 * How rows are made of the file, as one text: a run goes on only where an earlier one read alike. The first part is
 * that of svc 0.1.0, whose journals still count; what it could not do stands behind, where it makes a difference.
 */
export function readingOf({ mapping, table, findings }: Plan, flags: ImportFlags): string {
  const { width, columns, fallbacks, unused } = mapping;
  const first = [
    { width, columns, unused: unused.map(({ header }) => header) },
    {
      tagSeparator: flags.tag_separator ?? usualSeparator,
      tags: flags.tag ?? [],
      metadata: flags.metadata,
      strictPhone: flags.strict_phone,
      map: flags.map,
      dedupe: flags.dedupe,
    },
    syncChunkSize,
  ];
  const isNew = {
    ...(fallbacks.length > 0 && { fallbacks: fallbacks.map(({ index, to }) => [index, to]) }),
    ...(flags.skip.length > 0 && { skip: flags.skip }),
    ...(flags.only.length > 0 && { only: flags.only }),
    ...(flags.phone_country !== undefined && { phoneCountry: flags.phone_country.trim().toUpperCase() }),
    ...((!table.hasHeader || table.preamble.length > 0 || table.skippedText !== '') && {
      begins: [table.line, table.hasHeader],
    }),
    ...(flags.tag_separator === 'none' && { wholeTags: true }),
    ...(findings.severalEmails.count > 0 && { firstEmails: true }),
    ...(findings.tagLists > 0 && { tagLists: true }),
    ...(findings.phonesRead > 0 && { phonesRead: true }),
    ...(flags.strict_phone && findings.doubtfulPhones > 0 && { doubtfulPhones: true }),
  };
  return JSON.stringify(Object.keys(isNew).length > 0 ? [...first, isNew] : first);
}
