import { type Fault, type Verdict, verify as verifyRecord } from '../../audit/verify.ts';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import { Failure } from '../../errors.ts';
import { bare } from '../../output/bare.ts';
import { message } from '../../text/layout.ts';
import { listed } from '../../text/listed.ts';
import { counted } from '../../text/number.ts';
import { accountFlag, chosenRecord } from './chosen.ts';

export const verify = defineCommand({
  name: 'verify',
  summary: 'Check that the record is as svc wrote it',
  details:
    'Each line holds the digest of the one before. Exit 1 names the first line that was changed, removed, added or moved.\n' +
    'It also says when the record was switched off (svc config set audit off), which is no fault.\n' +
    'Lines that were cut off at the end leave no trace: to find that, keep what svc audit head prints somewhere else, and give it to --head.',
  flags: {
    head: {
      ...param.text('A digest that svc audit head printed before: its line must still be there', {
        placeholder: 'DIGEST',
      }),
      parse: digestIn,
    },
    account: accountFlag,
  },
  examples: ['svc audit verify', 'svc audit verify --json'],
  async run(ctx, { flags, settings }) {
    const { root, notes } = await chosenRecord(ctx, settings, flags.account);
    const verdict = await verifyRecord(root, flags.head);
    const why = whyNot(verdict, flags.head);
    const { lines, writes, head, fault, gaps } = verdict;
    const said =
      why ?? `${counted(writes, 'write')} in ${counted(lines, 'line')}, as svc wrote ${lines === 1 ? 'it' : 'them'}.`;
    const told = [said, ...gapWords(gaps, settings)].join(' ');
    return {
      read: true,
      data: {
        shape: 'record',
        record: { valid: why === undefined, lines, writes, head, fault: fault ?? null, why: why ?? null, gaps },
      },
      human: ({ paint, width }) => paint(why === undefined ? 'green' : 'red', message(told, width)),
      plain: () => told,
      outcome: why === undefined ? undefined : 'failed',
      notes: [...(verdict.isTorn ? [torn] : []), ...notes],
    };
  },
});

/** When nothing was recorded; it is no fault, for svc wrote it so. */
function gapWords(gaps: Verdict['gaps'], { audit }: Pick<Settings, 'audit'>): string[] {
  const closed = gaps.flatMap(({ from, to }) => (to === null ? [] : [`from ${from} to ${to}`]));
  const open = gaps.at(-1)?.to === null ? gaps.at(-1) : undefined;
  const since = open && `since ${open.from}`;
  return [
    ...(closed.length > 0 ? [`It was switched off ${listed(closed)}: what was written then is not in it.`] : []),
    ...(audit === 'off'
      ? [`It is switched off${since === undefined ? '' : ` ${since}`}: nothing that is written is in it.`]
      : []),
    ...(since !== undefined && audit !== 'off'
      ? [`It was switched off ${since}, and does not say when it was switched on again.`]
      : []),
  ];
}

/** What is no digest at all tells nothing of the record. */
function digestIn([text = '']: readonly string[], flag: string): string {
  const digest = text.trim().toLowerCase();
  if (/^[\da-f]{64}$/u.test(digest)) return digest;
  throw new Failure('usage', `${flag} takes what svc audit head prints, 64 hexadecimal digits, not "${text.trim()}".`);
}

const torn =
  'The last line has no end: svc was killed, or the disk was full, while it wrote it. A write whose first line it is was not sent; where its `sent` stands before, svc audit list shows that write as unknown.';

function whyNot({ fault, hasHead, isTorn }: Verdict, head: string | undefined): string | undefined {
  if (fault) return faultWords[fault.what](fault);
  if (head === undefined || hasHead) return undefined;
  return `No line has the digest ${head}: lines were cut off at the end${isTorn ? ', one of them in the middle' : ''}, or it is of another record.`;
}

const faultWords: Readonly<Record<Fault['what'], (fault: Fault) => string>> = {
  changed: ({ at, file }) => `Line ${at} of ${file} was changed.`,
  removed: ({ at, file }) => `Line ${at} of ${file} was removed.`,
  added: ({ at, file }) => `Line ${at} of ${file} was added: svc did not write it there.`,
  moved: ({ at, file }) => `Line ${at} of ${file} was moved here: the one that belongs here comes later.`,
};

export const head = defineCommand({
  name: 'head',
  summary: 'Print the digest of the last line, to keep somewhere else',
  details: 'Later svc audit verify --head DIGEST tells whether lines were cut off at the end.',
  flags: { account: accountFlag },
  examples: ['svc audit head'],
  async run(ctx, { flags, settings }) {
    const { root, notes } = await chosenRecord(ctx, settings, flags.account);
    const { head: digest, lines } = await verifyRecord(root);
    const text = digest === null ? '' : `${digest}\n`;
    return {
      ...bare({ head: digest, lines }, text),
      notes: [...(digest === null ? ['Nothing is recorded yet.'] : []), ...notes],
    };
  },
});
