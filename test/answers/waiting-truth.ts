// What waits, computed from what the service shows, by other means than the query: message by message.
type Fields = Record<string, unknown>;
type Records = Record<string, readonly Fields[]>;
type Message = { readonly at: number; readonly id: number; readonly thread: number; readonly isTheirs: boolean };

const isOpen = ({ status }: Fields): boolean => status !== 'resolved' && status !== 'closed';

/** The rows of `waiting`, but for its words. `all`: whole tickets and conversations, with their messages. */
export function whatWaits({ tickets = [], conversations = [] }: Records): Fields[] {
  const open = tickets.filter(isOpen);
  const chatsOf = (ticket: Fields) =>
    conversations.filter(({ id, ticket_id }) => id === ticket.conversation_id || ticket_id === ticket.id);
  const shown = new Set(open.flatMap((ticket) => chatsOf(ticket).map(({ id }) => id)));
  const rows = [
    ...open.map((ticket) => {
      const chats = chatsOf(ticket).flatMap((chat) => messagesOf(chat, Number(chat.id)));
      // The service shows a chat's messages in its ticket too.
      const again = (message: Message) => chats.some(({ id, at }) => id === message.id && at === message.at);
      const messages = [...messagesOf(ticket, 0).filter((message) => !again(message)), ...chats];
      const described: Message = { at: Date.parse(String(ticket.created_at)), id: 0, thread: 0, isTheirs: true };
      return rowOf('ticket', ticket, messages.length > 0 ? messages : [described]);
    }),
    ...conversations
      .filter((one) => isOpen(one) && !shown.has(one.id))
      .map((chat) => rowOf('conversation', chat, messagesOf(chat, Number(chat.id)))),
  ];
  return rows
    .filter((row) => row !== undefined)
    .sort(
      (a, b) =>
        Date.parse(String(a.waiting_since)) - Date.parse(String(b.waiting_since)) ||
        Number(b.kind === 'ticket') - Number(a.kind === 'ticket') ||
        Number(a.id) - Number(b.id),
    );
}

function messagesOf({ messages }: Fields, thread: number): Message[] {
  return ((messages ?? []) as Fields[]).map(({ id, created_at: at, direction, sender_type: sender }) => ({
    at: Date.parse(String(at)),
    id: Number(id),
    thread,
    isTheirs: direction === undefined ? sender === 'visitor' : direction === 'in',
  }));
}

/** Whether the answer came after the question: ids tell within one thread, and across two the answer has the last word. */
const isAnswered = (question: Message, answer: Message): boolean => {
  if (answer.at !== question.at) return answer.at > question.at;
  return answer.thread !== question.thread || answer.id > question.id;
};

function rowOf(kind: string, record: Fields, messages: readonly Message[]): Fields | undefined {
  const answers = messages.filter(({ isTheirs }) => !isTheirs);
  const questions = messages.filter((one) => one.isTheirs && !answers.some((answer) => isAnswered(one, answer)));
  if (questions.length === 0) return undefined;
  const since = Math.min(...questions.map(({ at }) => at));
  return {
    kind,
    id: record.id,
    number: kind === 'ticket' ? record.ticket_number : null,
    subject: record.subject,
    contact: record.contact,
    waiting_since: new Date(since).toISOString(),
    priority: record.priority,
    channel: kind === 'ticket' ? record.source : record.channel,
    status: record.status,
    why: answers.length > 0 ? 'wrote again' : 'no answer yet',
  };
}
