import { getChangelogEntry, listChangelog } from '../../api/changelog.ts';
import type { TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { several } from '../../command/several.ts';
import { releaseChangelog } from './release.ts';
import { stateOf } from './state.ts';
import { createEntry, publishEntry, updateEntry } from './write.ts';

export const changelog: TopGroup = {
  summary: 'Entries of the public changelog',
  commands: [
    fromOperation('list', listChangelog, {
      columns: [
        { path: 'id', header: 'ID', rank: 1 },
        { path: 'version', header: 'Version', as: 'whole', rank: 3 },
        { path: 'title', header: 'Title', rank: 2 },
        { path: 'status', header: 'Status', rank: 4, see: stateOf },
        { path: 'labels', header: 'Labels', rank: 6 },
        { path: 'published_at', header: 'Published', rank: 5 },
      ],
      examples: ['svc changelog list --status draft', "svc changelog list --all --json --jq '.[].version'"],
    }),
    fromOperation('get', getChangelogEntry, {
      several: true,
      human: async (entry, terminal) => (await import('./page.ts')).entryPage(entry, terminal),
      columns: ['id', 'version', 'title', 'status', 'labels', 'published_at', 'content_html'],
      examples: ['svc changelog get 1'],
    }),
    createEntry,
    updateEntry,
    several('changelog', publishEntry),
    releaseChangelog,
  ],
};
