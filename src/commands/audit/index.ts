import { resources } from '../../api/resources.ts';
import { faces } from '../../audit/entry.ts';
import { type Entry, entriesIn, entryFields } from '../../audit/read.ts';
import { atMost, limitOrAllFlags } from '../../command/at-most.ts';
import { defineCommand, type TopGroup } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { past } from '../../command/past.ts';
import { Failure } from '../../errors.ts';
import type { Column, Terminal } from '../../output/view.ts';
import { accountFlag, chosenRecord } from './chosen.ts';
import { head, verify } from './verify.ts';

/** Of a write as it is told: one that is on its way is unknown. */
const endings = ['done', 'refused', 'unknown'] as const satisfies readonly Entry['outcome'][];

const columns = [
  { path: 'seq', header: 'Seq', as: 'id', rank: 1 },
  { path: 'time', header: 'Time', as: 'time', rank: 4 },
  { path: 'outcome', header: 'Outcome', as: 'status', rank: 2 },
  { path: 'command', header: 'Command', as: 'whole', rank: 3 },
  {
    path: 'record',
    header: 'Record',
    as: 'id',
    rank: 5,
    see: ({ record, recording }: Entry) =>
      recording === undefined ? recordWords(record) : `record of writes ${recording}`,
    sees: 'everywhere',
  },
  { path: 'face', header: 'Face', as: 'whole', rank: 6 },
  { path: 'who.user', header: 'Who', rank: 7 },
  { path: 'status', header: 'Status', rank: 8 },
] as const;

/** The page of one write: what was done and to what, by whom, and what proves it. */
const pageColumns: readonly Exclude<Column, string>[] = [
  { path: 'seq', header: 'Seq' },
  { path: 'time', header: 'Time', as: 'time' },
  { path: 'ended_at', header: 'Ended', as: 'time' },
  { path: 'outcome', header: 'Outcome', as: 'status' },
  { path: 'status', header: 'HTTP status', as: 'text' },
  { path: 'command', header: 'Command' },
  { path: 'record', header: 'Record', see: ({ record }: Entry) => recordWords(record) },
  { path: 'draft', header: 'Draft' },
  { path: 'recording', header: 'Recording' },
  { path: 'face', header: 'Face' },
  { path: 'who', header: 'Who', see: ({ who }: Entry) => [who.user, who.host, who.client].filter(Boolean).join(', ') },
  { path: 'account', header: 'Account' },
  { path: 'profile', header: 'Profile' },
  { path: 'credential', header: 'Credential' },
  { path: 'path', header: 'Request', as: 'id', see: ({ method, path }: Entry) => `${method} ${path}` },
  { path: 'operation', header: 'Operation' },
  { path: 'service', header: 'Service', as: 'id' },
  { path: 'row', header: 'Row', as: 'id' },
  { path: 'body', header: 'Body' },
  { path: 'digest', header: 'Digest of the body', as: 'id' },
  { path: 'prev', header: 'Digest before', as: 'id' },
];

const pageOf = async (entry: Entry, terminal: Terminal): Promise<string> => {
  const [{ recordTable }, { valueAt }] = await Promise.all([
    import('../../output/table.ts'),
    import('../../output/fields.ts'),
  ]);
  const told = pageColumns.filter(({ path }) => (valueAt(entry, path) ?? null) !== null);
  return recordTable(entry, told, terminal);
};

const recordWords = (record: Entry['record']): string =>
  record ? [resources[record.kind].noun, record.number ?? record.id].filter((word) => word !== null).join(' ') : '';

const list = defineCommand({
  name: 'list',
  summary: 'List what svc has written, newest first',
  details: 'A write without an outcome is unknown: svc was killed while it was on its way, or is still at it.',
  flags: {
    since: past('Only writes since then: a time, or a span such as 12h'),
    until: past('Only writes before then, likewise'),
    record: param.text('Only writes to the record with this id, or ticket number', { placeholder: 'ID' }),
    face: param.choice('Only writes made this way', faces),
    outcome: param.choice('Only writes that ended so', endings),
    ...limitOrAllFlags('At most N writes (default 50)', 'Every write'),
    account: accountFlag,
  },
  examples: [
    'svc audit list --since yesterday --until today',
    'svc audit list --record T-1008 --json',
    'svc audit list --outcome unknown',
  ],
  async run(ctx, { flags, settings }) {
    const { root, notes } = await chosenRecord(ctx, settings, flags.account);
    const entries = await entriesIn(root);
    const isAbout = flags.record === undefined ? () => true : aboutRecord(flags.record, entries);
    const found = entries
      .filter((entry) => flags.since === undefined || Date.parse(entry.time) >= Date.parse(flags.since))
      .filter((entry) => flags.until === undefined || Date.parse(entry.time) < Date.parse(flags.until))
      .filter((entry) => flags.face === undefined || entry.face === flags.face)
      .filter((entry) => flags.outcome === undefined || entry.outcome === flags.outcome)
      .filter(isAbout)
      .reverse();
    const { records, notes: more } = atMost(found, flags.all ? undefined : (flags.limit ?? 50));
    return {
      read: true,
      data: {
        shape: 'list',
        records,
        columns,
        known: entryFields,
        empty: entries.length > 0 ? 'No such write is recorded.' : 'Nothing is recorded yet.',
      },
      notes: [...more, ...byNumber(flags.record, found.length), ...notes],
    };
  },
});

/** A write by the id, of a ticket that was not read before, has no number beside it. */
const byNumber = (typed: string | undefined, count: number): string[] =>
  typed !== undefined && count === 0 && /^[a-z]+-\d+$/iu.test(typed.trim())
    ? [
        `A write that named the ticket by its id is found by the id: --record ID. For the ID: svc tickets get ${typed.trim()} --jq .id`,
      ]
    : [];

/** By the number that people know, and then by the id that goes with it: not every request names both. */
function aboutRecord(typed: string, entries: readonly Entry[]): (entry: Entry) => boolean {
  const wanted = typed.trim().toLowerCase();
  const isNamed = ({ record }: Entry) =>
    record !== null && (record.number?.toLowerCase() === wanted || String(record.id) === wanted);
  const keyOf = ({ record }: Entry) => (record?.id == null ? undefined : `${record.kind} ${record.id}`);
  const keys = new Set(entries.filter(isNamed).map(keyOf));
  return (entry) => isNamed(entry) || (keyOf(entry) !== undefined && keys.has(keyOf(entry)));
}

const show = defineCommand({
  name: 'show',
  summary: 'Show one write',
  args: { seq: { ...param.requiredId('Its number in the list', undefined, 'audit list'), placeholder: 'SEQ' } },
  flags: { account: accountFlag },
  needs: 'a write that is recorded: svc audit list',
  examples: ['svc audit show 1 --json'],
  async run(ctx, { args, flags, settings }) {
    const { root, notes } = await chosenRecord(ctx, settings, flags.account);
    const record = (await entriesIn(root)).find(({ seq }) => seq === args.seq);
    if (record)
      return {
        read: true,
        data: { shape: 'record', record, labels: pageColumns },
        human: (terminal) => pageOf(record, terminal),
        notes,
      };
    throw new Failure('not-found', `There is no write ${args.seq} in the record.`, { hint: 'Run: svc audit list' });
  },
});

export const audit: TopGroup = {
  commands: [list, show, verify, head],
};
