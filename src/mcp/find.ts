import { listContacts } from '../api/contacts.ts';
import type { Operation } from '../api/operation.ts';
import { listTickets } from '../api/tickets.ts';
import { contactsWhere, mentions } from '../command/find-contacts.ts';
import { fieldsArgument } from '../derive/mcp-tools.ts';
import { Failure } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import { list } from '../http/call/pages.ts';
import { counted, number } from '../text/number.ts';
import { answer } from './answer.ts';
import { firstItems, room } from './bounds.ts';
import { onlyFields } from './slices.ts';
import { invalid, readingTool, type Tell, type Tool } from './tool.ts';

/** More matches say that the words were too few. */
const mostMatches = 50;
/** Clients give a call about a minute. What was found by then is worth more than nothing. */
const patienceMs = 40_000;

type Looked = {
  readonly found: readonly unknown[];
  readonly read: number;
  readonly isAll: boolean;
  /** Where it was looked: how old the copy is. */
  readonly told?: readonly string[];
};

/** Records that match, newest first, as far as the time and the service's limit allow. */
async function gather({ ctx }: Service, matches: AsyncIterable<unknown>, read: () => number): Promise<Looked> {
  const began = ctx.clock.ticks();
  const found: unknown[] = [];
  try {
    for await (const match of matches) {
      if (match !== undefined) found.push(match);
      const isOver = found.length >= mostMatches || ctx.clock.ticks() - began > patienceMs;
      if (isOver) return { found, read: read(), isAll: false };
    }
    return { found, read: read(), isAll: true };
  } catch (error) {
    // The minute's requests are used up, or there are more than the service lists: what was read so far is told.
    const isCut = error instanceof Failure && (error.kind === 'rate-limited' || error.isShort);
    if (!isCut || read() === 0) throw error;
    return { found, read: read(), isAll: false };
  }
}

type Finder = Pick<Tool, 'name' | 'title' | 'description'> & {
  readonly about: string;
  readonly key: 'contacts' | 'tickets';
  readonly noun: 'contact' | 'ticket';
  readonly operation: Operation;
  look(service: Service, q: string, tell: Tell): Promise<Looked>;
};

const finder = ({ name, title, description, about, key, noun, operation, look }: Finder): Tool =>
  readingTool(
    { name, title, description, toolset: key, operation },
    { properties: { q: { type: 'string', description: about }, fields: fieldsArgument }, required: ['q'] },
    async ({ service, input: { q }, boundary, tell }, fields) => {
      if (typeof q !== 'string' || q.trim() === '') throw invalid({ q: ['must be the text to look for'] });
      const { found, read, isAll, told = [] } = await look(service, q.trim(), tell);
      const records = fields ? found.map((record) => onlyFields(record, fields)) : found;
      const shown = firstItems(records, room);
      const leftOut = [
        ...(shown.length < found.length
          ? [
              `The first ${shown.length} of the ${counted(found.length, noun)} found are here. Name the \`fields\` that you need, or look for more words.`,
            ]
          : []),
        ...(isAll
          ? []
          : [
              `Looked at the newest ${counted(read, noun)} only. Look for more words, or read on with ${operation.id}.`,
            ]),
      ];
      return answer({ [key]: shown }, leftOut, [`${counted(found.length, noun)} found.`, ...told], boundary);
    },
  );

/** From the copy of the account where there is one, else page by page. */
async function lookForContacts(service: Service, q: string, tell: Tell): Promise<Looked> {
  const { foundInCopy } = await import('../mirror/query/found.ts');
  const { ctx, settings } = service;
  const told: string[] = [];
  const asking = { tell: (words: string) => void told.push(words), toService: listContacts.id };
  const copied = await foundInCopy({ ctx, settings, service: async () => service, ...asking }, q);
  if (copied) return { found: copied, read: copied.length, isAll: true, told };
  const fits = mentions(q);
  let read = 0;
  let ended = false;
  const began = service.ctx.clock.ticks();
  async function* matches(): AsyncGenerator<unknown> {
    const judge = (contact: Parameters<typeof fits>[0]): boolean => {
      read++;
      if (read % 100 === 0) tell(read, undefined, `${number(read)} contacts read`);
      // Every page is looked at to its end.
      ended = read % 100 === 0 && service.ctx.clock.ticks() - began > patienceMs;
      // When the time is up, the next record ends the search, whatever it is.
      return ended || fits(contact);
    };
    for await (const contact of contactsWhere(service, judge, q)) yield ended && !fits(contact) ? undefined : contact;
  }
  return { ...(await gather(service, matches(), () => read)), told };
}

/** The number itself counts before what only mentions it: `q` finds T-1008 for T-100, and subjects. */
async function lookForTickets(service: Service, q: string): Promise<Looked> {
  let read = 0;
  async function* matches(): AsyncGenerator<unknown> {
    for await (const ticket of list(service, listTickets, { query: { q } }, { all: true }).records) {
      read++;
      yield ticket;
    }
  }
  const looked = await gather(service, matches(), () => read);
  const exact = looked.found.filter((ticket) => numberOf(ticket) === q.toLowerCase());
  return exact.length > 0 ? { ...looked, found: exact, isAll: true } : looked;
}

const numberOf = (ticket: unknown): string => String(Object(ticket).ticket_number).toLowerCase();

export const findContact = finder({
  name: 'findContact',
  title: 'Find contact',
  description: 'Find contacts by email, name, phone or company.',
  about: 'Part of it',
  key: 'contacts',
  noun: 'contact',
  operation: listContacts,
  look: lookForContacts,
});

export const findTicket = finder({
  name: 'findTicket',
  title: 'Find ticket',
  description: 'Find tickets by number or subject.',
  about: 'Like T-1008',
  key: 'tickets',
  noun: 'ticket',
  operation: listTickets,
  look: lookForTickets,
});
