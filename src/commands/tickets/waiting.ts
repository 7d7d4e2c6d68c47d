import type { Waiting } from '../../answers/waiting.ts';
import { atMost, wholeListFlags } from '../../command/at-most.ts';
import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import { contactColumn, numberColumn, queueFields } from '../../output/contact-columns.ts';
import type { Column } from '../../output/view.ts';
import { pastMoment } from '../../text/time.ts';

type Numbered = Pick<Waiting, 'kind' | 'number' | 'id'>;

/** The bare id of a conversation looks like that of a ticket, and the kind may have no room. */
const numberSeen = ({ kind, number, id }: Numbered) => number ?? (kind === 'conversation' ? `chat ${id}` : id);

// A conversation may have no subject, so who waits comes before it.
const columns: readonly Column[] = [
  { path: 'waiting_since', header: 'Waiting since', as: 'time', rank: 3 },
  { path: 'kind', header: 'Kind', as: 'whole', rank: 5 },
  { path: 'id', header: 'ID', rank: 9 },
  { ...numberColumn, see: numberSeen, rank: 1 },
  { path: 'subject', header: 'Subject', rank: 4, least: 18 },
  { ...contactColumn, rank: 2, least: 12 },
  { path: 'priority', header: 'Priority', rank: 6 },
  { path: 'channel', header: 'Channel', rank: 7 },
  { path: 'why', header: 'Why', rank: 8 },
];

export const waitingTickets = defineCommand({
  name: 'waiting',
  summary: 'What waits for the team, longest first: tickets and conversations',
  details:
    'Those that are not resolved or closed, pending ones too, in which the customer wrote last. A ticket without messages has its ' +
    'description as the first. A ticket and the chat behind it are one line, the ticket. Waiting since is the first message of the ' +
    'customer that nobody answered. Read from the local copy: no request.',
  flags: {
    for: param.text('Only what has waited for at least so long, such as 2d, 12h or 30m', { placeholder: 'SPAN' }),
    channel: param.text('Only this channel of a conversation, or this source of a ticket: email, chat, web, …', {
      placeholder: 'CHANNEL',
    }),
    ...wholeListFlags('At most N of them, those that wait longest'),
    ...dbFlag,
  },
  needs: 'a copy of the account: svc mirror pull',
  prints: async () => queueFields,
  examples: ['svc tickets waiting', 'svc tickets waiting --for 2d --channel email', 'svc tickets waiting --json'],
  async run(ctx, { flags, settings }) {
    const since = flags.for === undefined ? undefined : pastMoment(flags.for, '--for', ctx.clock.now());
    const { channel } = flags;
    const before = since === undefined ? undefined : Date.parse(since);
    const [{ askCopy }, { waiting }] = await Promise.all([
      import('../../answers/copy.ts'),
      import('../../answers/waiting.ts'),
    ]);
    const asked = { db: flags.db, kinds: ['tickets', 'conversations'] as const };
    const { value, notes } = await askCopy(ctx, settings, asked, waiting);
    const wanted = value.filter(
      (row) =>
        (before === undefined || Date.parse(row.waiting_since) <= before) &&
        (channel === undefined || row.channel?.toLowerCase() === channel.toLowerCase()),
    );
    const { records, notes: more } = atMost(wanted, flags.limit);
    return {
      data: { shape: 'list', records, columns, fields: queueFields, empty: 'Nothing waits for the team.' },
      read: true,
      notes: [...more, ...(wanted.length === 0 ? otherChannels(channel, value) : []), ...notes],
    };
  },
});

/** A typing error must not look like a queue in which nothing waits. */
function otherChannels(channel: string | undefined, all: readonly Waiting[]): string[] {
  const known = [...new Set(all.flatMap((one) => one.channel ?? []))].sort().join(', ');
  return channel === undefined || known === ''
    ? []
    : [`Nothing waits with the channel ${channel}. Channels of what waits: ${known}.`];
}
