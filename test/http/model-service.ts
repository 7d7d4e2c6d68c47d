import type { Exchange, HttpRequest, HttpResponse, Lost } from '../../src/context.ts';

/**
 * A service of a few lines, written from the service's description alone and by nothing that svc is made of: what it holds is
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
    | 'Spring 500'
    | '505'
    | '520'
    | '524'
    | '529'
    | '599'
    | '408'
    | '499'
    | 'upstream'
    | 'up'
    | 'queued'
    | '429 page'
    | 'mixed up'
    | 'other 429'
    | 'other 401'
    | '401 page'
    | '429'
    | 'refused';
  /** Whether the service acts on it; with an answer it does, and after `429` and `refused` it never does. */
  readonly acts: boolean;
  /** How much later than svc's end of the attempt it acts. */
  readonly afterMs: number;
};

export type Kind = 'ticket' | 'contact' | 'list' | 'entry' | 'reply' | 'note';
export type AnyKind = Kind | 'hook';

type Row = Record<string, unknown> & { readonly kind: AnyKind; readonly id: number; readonly by: 'us' | 'other' };

/** Somebody else writes, that long after the service began: something that differs in these fields, or in none. */
export type Other = { readonly atMs: number; readonly kind: AnyKind; readonly body: Readonly<Record<string, unknown>> };

type Options = {
  /** Consumed by the writes in order; afterwards all goes well. */
  readonly troubles: readonly Trouble[];
  /** Reads that fail, by their number. */
  readonly failingReads: ReadonlySet<number>;
  readonly tidies: boolean;
  /** `Date` is that far ahead of `created_at`. */
  readonly aheadMs: number;
  readonly ticks: () => number;
  readonly others?: readonly Other[];
  /** Reads that are refused, by their number. */
  readonly refusedReads?: ReadonlySet<number>;
  /** In which order a list stands whose order the document does not promise. */
  readonly order?: 'newest' | 'oldest' | 'by name';
  /** What was there before, besides. */
  readonly before?: { readonly kind: AnyKind; readonly bodies: readonly Readonly<Record<string, unknown>>[] };
};

const shows: Readonly<Record<AnyKind, string>> = {
  ticket: '/tickets',
  contact: '/contacts/create',
  list: '/contactslists/create',
  entry: '/changelog',
  reply: '/tickets/1/replies',
  note: '/tickets/1/notes',
  hook: '/oauth-platform/webhooks',
};

const kindAt = (path: string): AnyKind | undefined =>
  (Object.keys(shows) as AnyKind[]).find((kind) => shows[kind] === path);

/** What a gateway answers in place of the service: status and body. */
const gateways: Partial<Record<Trouble['seen'], readonly [number, string]>> = {
  'other 500': [500, '{"message":"Internal server error"}'],
  'Spring 500': [500, '{"timestamp":"2026-03-01T12:00:00Z","status":500,"error":"Internal Server Error"}'],
  '502': [502, '<html>Bad gateway</html>'],
  '504': [504, ''],
  '505': [505, '{"error":"HTTP version not supported"}'],
  '520': [520, '{"error":"Unknown error"}'],
  '524': [524, '{"error":"A timeout occurred"}'],
  '529': [529, '{"error":"Overloaded"}'],
  '599': [599, '{"error":"Network connect timeout"}'],
  '408': [408, '{"error":"Request timeout"}'],
  '499': [499, '{"error":"Client closed request"}'],
  '429 page': [429, '<html>Too many requests</html>'],
  'other 429': [429, '{}'],
  'other 401': [401, '{"code":16}'],
  '401 page': [401, '<html>Sign in</html>'],
  page: [200, '<html>Sign in</html>'],
  upstream: [200, '{"error":"upstream timeout"}'],
  up: [200, '{"status":"up"}'],
  queued: [202, '{"status":"queued","id":7}'],
};

/** What such an answer shows otherwise. */
const mixedUp: Partial<Record<AnyKind, Readonly<Record<string, string>>>> = {
  ticket: { subject: 'Theirs' },
  contact: { name: 'Theirs' },
  entry: { title: 'Theirs' },
  reply: { body: 'Theirs' },
  note: { body: 'Theirs' },
  hook: { target_url: 'https://theirs.example/h' },
};

export function modelService(options: Options) {
  const { troubles, failingReads, tidies, aheadMs, ticks, order = 'newest' } = options;
  const rows: Row[] = [];
  const left = [...troubles];
  let nextId = 2;
  let reads = 0;
  const writes: string[] = [];
  let onTheWay: { readonly at: number; readonly act: () => unknown }[] = [];
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

  function store(kind: AnyKind, body: Readonly<Record<string, unknown>>, by: Row['by'] = 'us'): Row {
    const tidied = Object.fromEntries(Object.entries(body).map(([key, value]) => [key, tidy(value)]));
    if (tidies && typeof tidied.email === 'string') tidied.email = tidied.email.toLowerCase();
    const row: Row = { ...tidied, kind, by, id: nextId++, created_at: when() };
    rows.unshift(row);
    return row;
  }
  for (const body of options.before?.bodies ?? []) store(options.before?.kind ?? 'note', body, 'other');
  for (const { atMs, kind, body } of options.others ?? []) {
    onTheWay.push({ at: started + atMs, act: () => store(kind, body, 'other') });
  }

  const of = (kind: AnyKind) => rows.filter((row) => row.kind === kind);
  const ticketOf = (row: Record<string, unknown>) => ({
    id: row.id,
    ticket_number: `T-${row.id}`,
    subject: row.subject,
    description: row.description ?? '',
    status: 'open',
    priority: row.priority ?? 0,
    source: 'api',
    contact: null,
    due_at: row.due_at ?? null,
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
    company: row.company ?? '',
    website: null,
    country: '',
    tags: [],
    metadata: {},
    lead_status: 'new',
  });
  const entryOf = (row: Row) => ({
    ...row,
    slug: `s-${row.id}`,
    version: row.version ?? null,
    category: null,
    labels: row.labels ?? [],
    status: row.status ?? 'draft',
    is_live: false,
    published_at: row.status === 'published' ? row.created_at : null,
    updated_at: row.created_at,
    content_html: `<p>${row.content}</p>\n`,
  });

  /** A page of a list. */
  function page(key: string, records: readonly unknown[], query: URLSearchParams): HttpResponse {
    const [number, size] = [Number(query.get('page') ?? 1), Number(query.get('per_page') ?? 50)];
    const last_page = Math.max(1, Math.ceil(records.length / size));
    const meta = { current_page: number, last_page, total: records.length };
    return says(200, { [key]: records.slice((number - 1) * size, number * size), meta });
  }

  /** Of a list whose order is not promised. */
  const inOrder = (kind: AnyKind): readonly Row[] => {
    const newest = of(kind);
    if (order === 'newest') return newest;
    if (order === 'oldest') return [...newest].reverse();
    const name = (row: Row) => String(row.title ?? row.name ?? row.target_url);
    return [...newest].sort((a, b) => name(a).localeCompare(name(b)));
  };

  function read({ pathname: path, searchParams: query }: URL): HttpResponse {
    const number = reads++;
    if (options.refusedReads?.has(number)) return says(403, { error: 'forbidden' });
    if (failingReads.has(number)) return says(500, { error: 'Server error' });
    const one = /^\/(tickets|contacts|changelog)\/(\d+)$/u.exec(path);
    const id = Number(one?.[2]);
    const held = rows.find((row) => row.id === id);
    if (one?.[1] === 'tickets' && (id === 1 || held))
      return says(200, { ticket: ticketOf(id === 1 ? first : (held ?? first)) });
    if (one?.[1] === 'contacts' && held) return says(200, { contact: contactOf(held) });
    if (one?.[1] === 'changelog' && held) return says(200, { entry: entryOf(held) });
    if (path === '/platform/account') return says(200, { account_id: 1, name: 'Model' });
    if (path === '/tickets') return page('tickets', [...of('ticket'), first].map(ticketOf), query);
    if (path === '/contacts') return page('contacts', of('contact').map(contactOf), query);
    if (path === '/changelog') {
      return page(
        'entries',
        inOrder('entry').map((row) => ({ ...entryOf(row), content: undefined, content_html: undefined })),
        query,
      );
    }
    if (path === '/oauth-platform/webhooks') return says(200, { webhooks: inOrder('hook') });
    if (path === '/contactslists/list') {
      // The document shows no more of a list than this.
      const shown = ({ id, name, target_industry }: Row) => ({ contacts_list_id: id, name, target_industry });
      return says(200, { data: inOrder('list').map(shown) });
    }
    return says(404, { error: 'Not found' });
  }

  function answerTo(kind: AnyKind, row: Row): HttpResponse {
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
      case 'hook':
        return says(201, { ...row, signing_secret: `secret-${row.id}` });
    }
  }

  function write(kind: AnyKind, request: HttpRequest): HttpResponse | Lost {
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
    // The answer to somebody else's request. That of a list shows nothing by which it could be told.
    const others = mixedUp[kind];
    if (seen === 'mixed up' && others)
      return answerTo(kind, { ...body, ...others, kind, by: 'other', id: 9000 + writes.length });
    const gateway = gateways[seen];
    if (gateway) return says(...gateway);
    const reason = seen === 'tls' || seen === 'reset' ? seen : 'timeout';
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
    const url = new URL(request.url);
    if (url.pathname === '/platform/account') return account(request);
    const kind = request.method === 'POST' ? kindAt(url.pathname) : undefined;
    return kind ? write(kind, request) : read(url);
  };
  return {
    exchange,
    /** Lets everything arrive that is still on its way, and counts. */
    held(kind: AnyKind): number {
      arrive(Number.POSITIVE_INFINITY);
      return of(kind).filter(({ by }) => by === 'us').length;
    },
    /** Of a kind, whoever wrote it. */
    rowsOf: of,
    writes: () => writes.length,
  };
}
