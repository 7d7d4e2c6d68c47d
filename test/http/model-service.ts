import type { Exchange, HttpRequest, HttpResponse, Lost } from '../../src/context.ts';

/**
 * A service of a few lines, written from service-api.txt alone and by nothing that svc is made of: what it holds is
 * counted after a run. It answers in time, late or not at all, and tidies what it stores.
 */
export type Trouble = {
  /** What svc sees of this attempt to write. */
  readonly seen:
    | 'answer'
    | 'time-out'
    | 'reset'
    | 'tls'
    | '502'
    | '504'
    | 'page'
    | 'own 500'
    | 'other 500'
    | '429'
    | 'refused';
  /** Whether the service acts on it; with an answer it does, and after `429` and `refused` it never does. */
  readonly acts: boolean;
  /** How much later than svc's end of the attempt it acts. */
  readonly afterMs: number;
};

export type Kind = 'ticket' | 'contact' | 'list' | 'entry' | 'reply' | 'note';

type Row = Record<string, unknown> & { readonly kind: Kind };

type Options = {
  /** Consumed by the writes in order; afterwards all goes well. */
  readonly troubles: readonly Trouble[];
  /** Reads that fail, by their number. */
  readonly failingReads: ReadonlySet<number>;
  readonly tidies: boolean;
  /** `Date` is that far ahead of `created_at`. */
  readonly aheadMs: number;
  readonly ticks: () => number;
};

const shows: Readonly<Record<Kind, string>> = {
  ticket: '/tickets',
  contact: '/contacts/create',
  list: '/contactslists/create',
  entry: '/changelog',
  reply: '/tickets/1/replies',
  note: '/tickets/1/notes',
};

const kindAt = (path: string): Kind | undefined => (Object.keys(shows) as Kind[]).find((kind) => shows[kind] === path);

export function modelService({ troubles, failingReads, tidies, aheadMs, ticks }: Options) {
  const rows: Row[] = [];
  const left = [...troubles];
  let nextId = 2;
  let reads = 0;
  const writes: string[] = [];
  let onTheWay: { readonly at: number; readonly act: () => void }[] = [];
  const started = ticks();
  const now = () => Date.parse('2026-03-01T12:00:00.000Z') + ticks() - started;
  const when = () => new Date(now()).toISOString();

  const says = (status: number, json: unknown): HttpResponse => ({
    status,
    headers: { 'content-type': 'application/json', date: new Date(now() + aheadMs).toUTCString() },
    body: typeof json === 'string' ? json : JSON.stringify(json),
  });

  const tidy = (value: unknown): unknown =>
    tidies && typeof value === 'string' ? value.normalize('NFC').trim().replaceAll(/\s+/gu, ' ') : value;

  function store(kind: Kind, body: Record<string, unknown>): Row {
    const tidied = Object.fromEntries(Object.entries(body).map(([key, value]) => [key, tidy(value)]));
    if (tidies && typeof tidied.email === 'string') tidied.email = tidied.email.toLowerCase();
    const row: Row = { ...tidied, kind, id: nextId++, created_at: when() };
    rows.unshift(row);
    return row;
  }

  const of = (kind: Kind) => rows.filter((row) => row.kind === kind);
  const ticketOf = (row: Record<string, unknown>) => ({
    id: row.id,
    ticket_number: `T-${row.id}`,
    subject: row.subject,
    description: row.description ?? '',
    status: 'open',
    priority: 0,
    source: 'api',
    contact: null,
    due_at: null,
    first_response_at: null,
    resolved_at: null,
    created_at: row.created_at,
    updated_at: row.created_at,
    reply_channel: 'email',
    conversation_id: null,
    messages: row.id !== 1 ? [] : of('reply').map(messageOf).reverse(),
  });
  const messageOf = ({ id, body, created_at }: Row) => ({
    id,
    direction: 'out',
    sender_type: 'user',
    sender_name: 'Ada',
    body,
    attachments: [],
    created_at,
  });
  const first = { id: 1, subject: 'First', created_at: '2026-01-01T00:00:00.000Z' };
  const contactOf = (row: Row) => ({
    ...row,
    contact_id: row.id,
    company: '',
    website: null,
    country: '',
    tags: [],
    metadata: {},
    lead_status: 'new',
  });
  const entryOf = (row: Row) => ({
    ...row,
    slug: `s-${row.id}`,
    version: null,
    category: null,
    labels: [],
    status: 'draft',
    is_live: false,
    published_at: null,
    updated_at: row.created_at,
    content_html: '',
  });
  const meta = (total: number) => ({ current_page: 1, last_page: 1, total });

  function read(path: string): HttpResponse {
    if (failingReads.has(reads++)) return says(500, { error: 'Server error' });
    const one = /^\/(tickets|changelog)\/(\d+)$/u.exec(path);
    const id = Number(one?.[2]);
    if (one?.[1] === 'tickets')
      return says(200, { ticket: ticketOf(id === 1 ? first : (rows.find((row) => row.id === id) ?? first)) });
    if (one) return says(200, { entry: entryOf(rows.find((row) => row.id === id) as Row) });
    if (path === '/tickets') return says(200, { tickets: [...of('ticket'), first].map(ticketOf), meta: meta(1) });
    if (path === '/contacts') return says(200, { contacts: of('contact').map(contactOf), meta: meta(1) });
    if (path === '/changelog') return says(200, { entries: of('entry').map(entryOf), meta: meta(1) });
    if (path === '/contactslists/list') {
      return says(200, { data: of('list').map((row) => ({ ...row, contacts_list_id: row.id })) });
    }
    return says(404, { error: 'Not found' });
  }

  function answerTo(kind: Kind, row: Row): HttpResponse {
    switch (kind) {
      case 'ticket':
        return says(201, { ticket: ticketOf(row) });
      case 'contact':
        return says(200, { contacts: { contact_id: row.id, name: row.name } });
      case 'list':
        return says(200, { contact_list_id: row.id });
      case 'entry':
        return says(201, { entry: entryOf(row) });
      case 'reply':
        return says(201, { message: { ...messageOf(row), channel: 'email' } });
      case 'note':
        return says(201, { note: row });
    }
  }

  function write(kind: Kind, request: HttpRequest): HttpResponse | Lost {
    const { seen, acts, afterMs } = left.shift() ?? { seen: 'answer', acts: true, afterMs: 0 };
    writes.push(kind);
    const body = JSON.parse(String(request.body)) as Record<string, unknown>;
    if (seen === 'answer') return answerTo(kind, store(kind, body));
    if (seen === '429') return { ...says(429, { error: 'Slow down' }), headers: { 'retry-after': '1' } };
    if (seen === 'refused') return { lost: 'before-sending', reason: 'refused', detail: 'It refuses connections.' };
    // A service that tells of its own failure has ended with the request.
    if (acts && (seen === 'own 500' || afterMs === 0)) store(kind, body);
    else if (acts) onTheWay.push({ at: ticks() + afterMs, act: () => store(kind, body) });
    if (seen === 'own 500') return says(500, { error: 'Server error' });
    if (seen === 'other 500') return says(500, { message: 'Internal server error' });
    if (seen === '502') return says(502, '<html>Bad gateway</html>');
    if (seen === '504') return says(504, '');
    if (seen === 'page') return says(200, '<html>Sign in</html>');
    const reason = seen === 'time-out' ? 'timeout' : seen;
    return { lost: 'after-sending', reason, detail: 'No answer.' };
  }

  /** Whatever the credential, it is one account; `blind` is a token that may not ask for it. */
  const account = ({ headers }: HttpRequest): HttpResponse =>
    headers.authorization === 'Bearer blind'
      ? says(403, { error: 'Missing scope: identity' })
      : says(200, { account_id: 1, name: 'Acme', billing_active: true, setup_url: null });

  const arrive = (until: number) => {
    const due = onTheWay.filter(({ at }) => at <= until);
    onTheWay = onTheWay.filter(({ at }) => at > until);
    for (const { act } of due) act();
  };

  const exchange: Exchange = async (request) => {
    arrive(ticks());
    const { pathname } = new URL(request.url);
    if (pathname === '/platform/account') return account(request);
    const kind = request.method === 'POST' ? kindAt(pathname) : undefined;
    return kind ? write(kind, request) : read(pathname);
  };
  return {
    exchange,
    /** Lets everything arrive that is still on its way, and counts. */
    held(kind: Kind): number {
      arrive(Number.POSITIVE_INFINITY);
      return of(kind).length;
    },
    writes: () => writes.length,
  };
}
