import { getChangelogEntry, listChangelog } from '../../api/changelog.ts';
import type { Param, TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';
import { several } from '../../command/several.ts';
import { releaseChangelog } from './release.ts';
import { stateOf, withoutScheduled } from './state.ts';
import { createEntry, publishEntry, updateEntry } from './write.ts';

const list = fromOperation('list', listChangelog, {
  columns: [
    { path: 'id', header: 'ID', rank: 1 },
    { path: 'version', header: 'Version', as: 'whole', rank: 3 },
    { path: 'title', header: 'Title', rank: 2 },
    { path: 'status', header: 'Status', rank: 4, see: stateOf },
    { path: 'labels', header: 'Labels', rank: 6 },
    { path: 'published_at', header: 'Published', rank: 5 },
  ],
  examples: ['svc changelog list --status draft', "svc changelog list --all --json --jq '.[].version'"],
});

const amongPublished =
  "Scheduled entries are among the published ones. Those alone: --status published --all --jq 'map(select(.is_live | not))'";

export const changelog: TopGroup = {
  summary: 'Entries of the public changelog',
  commands: [
    {
      ...list,
      flags: { ...list.flags, status: withoutScheduled(list.flags.status as Param<unknown>, amongPublished) },
    },
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
