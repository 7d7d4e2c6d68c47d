import { dataOf } from '../mirror/tables/cells.ts';
import { owned, ownerOf } from '../mirror/tables/store.ts';
import { type Draft, textOf } from '../sends/draft.ts';
import { draftInWords, requestInWords } from '../sends/words.ts';
import { fullName } from '../text/full-name.ts';
import { type Fields, fieldsIn, recordsIn, textIn } from '../text/record.ts';
import { type Row, type Thread, type ThreadMessage, whoOf } from './row.ts';
import type { Reading } from './source.ts';

/** A record of the copy as the service shows it, with its messages, oldest first; undefined where it is not there. */
export async function recordOf(
  { store, account }: Reading,
  { kind, id }: Pick<Row, 'kind' | 'id'>,
): Promise<Fields | undefined> {
  const table = { ticket: 'tickets', conversation: 'conversations', feedback: 'feedback', draft: undefined }[kind];
  if (table === undefined) return undefined;
  return store.read(async (sql) => {
    const [row] = await sql.all(`SELECT data FROM ${table} WHERE ${owned} AND id = $3`, [...ownerOf(account), id]);
    if (!row) return undefined;
    if (kind === 'feedback') return dataOf(row);
    const messages = await sql.all(
      `SELECT data FROM ${kind}_messages WHERE ${owned} AND ${kind}_id = $3 AND gone_at IS NULL ORDER BY created_at, id`,
      [...ownerOf(account), id],
    );
    return { ...dataOf(row), messages: messages.map(dataOf) };
  });
}

/** The record as a thread. Fields that an answer lacks are left out, never a crash. */
export function threadOf(row: Row, record: Fields): Thread {
  const { status, priority, source, channel, ticket_number: number, subject, description } = record;
  const messages = recordsIn(record.messages).map(messageOf);
  const asked = textIn(description) ?? textIn(record.content);
  const isSaid = asked === undefined || asked.trim() === '' || messages[0]?.body.trim() === asked.trim();
  const request = {
    who: whoOf(row),
    side: 'customer' as const,
    at: String(record.created_at ?? ''),
    body: asked ?? '',
    files: [],
  };
  const facts = [status, priority === undefined ? undefined : `priority ${priority}`, source ?? channel];
  return {
    title: [
      textIn(number),
      textIn(subject) ?? textIn(record.title) ?? (row.kind === 'conversation' ? `Conversation ${row.id}` : undefined),
    ]
      .filter(Boolean)
      .join('  '),
    facts: facts.flatMap((fact) => (fact === undefined || fact === null || fact === '' ? [] : [String(fact)])),
    ...(typeof status === 'string' && { status }),
    fields: fieldsOf(record),
    messages: isSaid ? messages : [request, ...messages],
  };
}

function fieldsOf(record: Fields): Thread['fields'] {
  const contact = fieldsIn(record.contact);
  const name = fullName(contact);
  const ways = [contact.email, contact.phone].filter(Boolean).join(' ');
  const mode = record.handling_mode === 'ai' ? 'the AI' : 'the team';
  const all: readonly (readonly [string, unknown])[] = [
    ['Customer', [name, ways].filter(Boolean).join('  ')],
    ['Replies', record.reply_channel === undefined ? undefined : `by ${record.reply_channel}`],
    ['Answers', record.handling_mode === undefined ? undefined : mode],
    ['Votes', record.vote_count],
  ];
  return all.flatMap(([field, value]) =>
    value === undefined || value === null || value === '' ? [] : [[field, String(value)] as const],
  );
}

function messageOf(message: Fields): ThreadMessage {
  const { sender_name: name, sender_type: type, direction, created_at: at, body, attachments } = message;
  return {
    who: textIn(name) ?? '',
    side: sideOf(textIn(direction), textIn(type)),
    at: String(at ?? ''),
    body: textIn(body) ?? '',
    files: recordsIn(attachments).map((file) => String(file.name ?? 'a file')),
  };
}

function sideOf(direction: string | undefined, type: string | undefined): ThreadMessage['side'] {
  if (type === 'ai') return 'ai';
  if (direction !== undefined) return direction === 'in' ? 'customer' : 'team';
  return type === 'visitor' ? 'customer' : 'team';
}

/** A draft as it is read: its text, and below it the thread that it answers. */
export function threadOfDraft(draft: Draft, answered: Thread | undefined): Thread {
  const { state, by, error, created_at: at, steps, operation, record, number, to } = draft;
  const body = textOf(draft) ?? requestInWords({ operation, record, number, to, body: steps[0]?.body });
  return {
    title: draftInWords(draft),
    facts: [state, `by ${by}`],
    fields: [
      ...(error === null ? [] : [['Error', error] as const]),
      ...steps.slice(1).map(({ method, path }) => ['Then', `${method} ${path}`] as const),
    ],
    messages: [{ who: 'The draft', side: 'team', at, body, files: [] }, ...(answered?.messages.slice(-5) ?? [])],
  };
}

/** When the newest message was written, as far as the copy knows. */
export const newestAt = (record: Fields | undefined): string | undefined =>
  textIn(recordsIn(record?.messages).at(-1)?.created_at);
