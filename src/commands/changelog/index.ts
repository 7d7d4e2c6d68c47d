import { getChangelogEntry, listChangelog } from '../../api/changelog.ts';
import type { Group } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { releaseChangelog } from './release.ts';
import { createEntry, publishEntry, updateEntry } from './write.ts';

export const changelog: Group = {
  name: 'changelog',
  summary: 'Entries of the public changelog',
  commands: [
    fromOperation('list', listChangelog, {
      columns: [
        'id',
        'version',
        'title',
        { path: 'status', as: 'status' },
        'labels',
        { path: 'published_at', as: 'time' },
      ],
      examples: ['svc changelog list --status draft', "svc changelog list --all --json --jq '.[].version'"],
    }),
    fromOperation('get', getChangelogEntry, {
      several: true,
      columns: ['id', 'version', 'title', 'status', 'labels', 'published_at', 'content_html'],
      examples: ['svc changelog get 1'],
    }),
    createEntry,
    updateEntry,
    publishEntry,
    releaseChangelog,
  ],
};
