import type { About } from '../../src/audit/entry.ts';

/** A write as it is recorded; `command` tells it from others. */
export const aboutIn = (command: string): About => ({
  service: 'https://service.test',
  account: 1,
  profile: null,
  credential: 'api_key',
  face: 'cli',
  who: { user: 'ada', host: 'büro', client: null },
  command,
  operation: 'addTicketNote',
  method: 'POST',
  path: '/tickets/8/notes',
  record: { kind: 'tickets', id: 8, number: 'T-1008' },
  digest: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  draft: null,
});
