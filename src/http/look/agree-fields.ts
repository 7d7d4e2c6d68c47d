import type { createChangelogEntry } from '../../api/changelog.ts';
import type { Input } from '../../api/operation.ts';
import type { createTicket } from '../../api/tickets.ts';
import { type Fields, fieldsIn } from '../../text/record.ts';
import { isSameLabels, isSameRendered, isSameText, isSameTime } from './agree.ts';

/** Field by field: those by which people know such a record, as far as they were sent, and the others. */
export type Compared = { readonly telling: readonly boolean[]; readonly others: readonly boolean[] };

/** What was not sent is as the service makes it: source api, priority 0, no requester, not due (service.md#tickets-1). */
export const ticketAsListed = (ticket: Fields, { body }: Input<typeof createTicket>): Compared => ({
  telling: [isSameText(ticket.subject, body.subject)],
  others: [
    ticket.source === 'api',
    ticket.priority === (body.priority ?? 0),
    (fieldsIn(ticket.contact).contact_id ?? undefined) === body.contact_id,
    isSameTime(ticket.due_at, body.due_at),
  ],
});

export function ticketInFull(ticket: Fields, input: Input<typeof createTicket>): Compared {
  const { telling, others } = ticketAsListed(ticket, input);
  const { description } = input.body;
  const isSame = isSameRendered(ticket.description, description);
  return description?.trim() ? { telling: [...telling, isSame], others } : { telling, others: [...others, isSame] };
}

/** What was not sent: a draft, without version, category and labels. The time of publishing is the service's own. */
export function entryAsListed(entry: Fields, { body }: Input<typeof createChangelogEntry>): Compared {
  const { title, version, status = 'draft', category_id, labels, published_at } = body;
  const isVersion = isSameText(entry.version, version);
  const isUnpublished = status === 'draft' && (entry.published_at ?? null) === null;
  const isTimeOurs = status === 'published' && !published_at;
  return {
    telling: [isSameText(entry.title, title), ...(version?.trim() ? [isVersion] : [])],
    others: [
      isVersion,
      entry.status === status,
      (fieldsIn(entry.category).id ?? null) === (category_id ?? null),
      isSameLabels(entry.labels, labels),
      isUnpublished || isTimeOurs || isSameTime(entry.published_at, published_at),
    ],
  };
}

/** The text is compared by what a reader sees of it: the service makes HTML of plain text and Markdown, and sanitizes. */
export async function entryInFull(entry: Fields, input: Input<typeof createChangelogEntry>): Promise<Compared> {
  const { showsContent } = await import('../../text/reading.ts');
  const { telling, others } = entryAsListed(entry, input);
  return { telling: [...telling, showsContent(String(entry.content_html ?? ''), input.body.content)], others };
}
