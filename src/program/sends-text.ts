import { laidOut } from './topic-parts.ts';

/** `svc help sends`. */
export const holding = laidOut([
  {
    say:
      'What reaches a customer or the public is a send: both replies, conversations resolve, events send, and publishing. ' +
      'svc can hold every send for a person, whichever way it comes: a command, --from, svc api, or svc mcp.',
  },
  {
    rows: [
      ['--draft', 'send nothing: keep it as a draft; of a file all rows are one batch'],
      ['svc drafts list', 'what waits; show ID, edit ID, approve ID, reject ID'],
      ['svc config set sends allow', 'it is sent at once; the default'],
      ['svc config set sends ask', 'a person at a terminal sees the text and agrees; in a pipe exit 2'],
      ['svc config set sends draft', 'every send becomes a draft; no flag gets around that'],
      ['SVC_SENDS', 'the same for a process; the stricter one holds'],
      [
        '--hold SECONDS',
        'of each command that sends, but not of drafts approve: wait before it is sent; Return sends it, Ctrl-C keeps it as a draft',
      ],
      ['SVC_DRAFTS_DB', 'where drafts are kept: a folder, or a postgres:// URL that several machines share'],
      ['svc mcp --draft-sends', 'an assistant drafts, and a person approves'],
    ],
  },
  { say: 'Rules stand in policy.yaml of the configuration folder, or where SVC_POLICY says. Its keys:' },
  {
    rows: [
      ['sends.mode', 'allow, ask or draft; the stricter one holds'],
      ['sends.max_per_hour', 'at most so many sends in an hour, counted in this state folder'],
      ['sends.quiet', 'from, to, zone, and days that are quiet whole'],
      [
        'sends.allow, .deny',
        'jq over {operation, record, contact, body, by}: true or false; a text is .body.body, a number .record.ticket_number',
      ],
    ],
  },
  { run: ['svc tickets reply 8 --body "It is fixed." --draft', 'svc drafts show 1', 'svc drafts approve 1'] },
]);
