import { strToU8, zipSync } from 'fflate';
import { fullName } from '../text/full-name.ts';
import { type Html, html } from '../text/markup.ts';
import { type Fields, isRecord, recordsIn } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import type { History } from './history.ts';
import { page } from './page.ts';

const style = `
section { border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; margin: 0 0 1rem; background: var(--card); }
section.long { break-inside: auto; }
article { border-left: 3px solid var(--line); margin: .75rem 0 0; padding: 0 0 0 .75rem; break-inside: avoid; }
article.in { border-color: var(--main); }
.text { white-space: pre-wrap; unicode-bidi: plaintext; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .1rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; }
`;

/** What is held about one person, for that person: readable without any program but a browser. Times are in UTC. */
function historyHtml(history: History): string {
  const { contact, lists, tickets, conversations, calls, changes } = history;
  const name = plain(fullName(contact) || `Contact ${contact.contact_id}`);
  const body = html`<h1>${name}</h1>
<p class="soft">What is held about this person. The same is in person.json, for programs. Times are in UTC.</p>
${missing(history).map((text) => html`<p><strong>${text}</strong></p>`)}
<h2>Record</h2>
<section>${definitions(contact)}</section>
${part('Lists', lists, (list) => html`<section>${definitions(list)}</section>`)}
${part('Tickets', tickets, thread)}
${part('Conversations', conversations, thread)}
${part('Calls', calls, (call) => html`<section>${definitions(call)}</section>`)}
${part(
  'Changes',
  changes,
  ({ time, kind, record_id: id, change, fields }) => html`<section><h3>${kind} ${id}: ${change}</h3>
<p class="soft">seen ${moment(time)}</p>${pairs(
    Object.entries(fields).map(([field, { before, after }]) => [
      field,
      `${told(field, before) || '(empty)'} → ${told(field, after) || '(empty)'}`,
    ]),
  )}</section>`,
)}`;
  return page(name, body, style);
}

/** For the person, who sees none of svc's notes. */
const missing = ({ copy }: History): string[] =>
  [
    { kinds: copy.not_whole, said: 'Not all was read, so records may be missing here' },
    { kinds: copy.refused, said: 'Not read, since this login may not' },
  ]
    .filter(({ kinds }) => kinds.length > 0)
    .map(({ kinds, said }) => `${said}: ${kinds.join(', ')}.`);

const part = <T>(title: string, all: readonly T[], one: (item: T) => Html): Html =>
  html`<h2>${title} (${all.length})</h2>
${all.length === 0 ? html`<p class="soft">None.</p>` : all.map(one)}`;

/** A ticket or a conversation: its fields, and what was written. */
function thread(record: Fields): Html {
  const { messages, description, subject, contact: _, ...fields } = record;
  const title = [fields.ticket_number ?? `#${fields.id}`, subject].filter(Boolean).join(' ');
  return html`<section class="long"><h3>${plain(title)}</h3>
${definitions(fields)}
${typeof description === 'string' && description !== '' && html`<p class="text">${plain(description)}</p>`}
${recordsIn(messages).map(message)}</section>`;
}

function message(one: Fields): Html {
  const isTheirs = one.direction === 'in' || one.sender_type === 'visitor';
  const files = recordsIn(one.attachments).map(({ name }) => words(name));
  return html`<article class="${isTheirs ? 'in' : 'out'}">
<p class="soft">${[words(one.sender_name), words(one.sender_type), moment(one.created_at)].filter(Boolean).join(' · ')}</p>
<p class="text">${plain(String(one.body ?? ''))}</p>
${files.length > 0 && html`<p class="soft">Attached: ${files.join(', ')}</p>`}</article>`;
}

const definitions = (record: Fields): Html =>
  pairs(
    Object.entries(record)
      .filter(([, value]) => words(value) !== '')
      .map(([field, value]) => [field, told(field, value)]),
  );

const pairs = (all: readonly (readonly [name: string, text: string])[]): Html =>
  html`<dl>${all.map(([name, text]) => html`<dt>${plain(name)}</dt><dd>${text}</dd>`)}</dl>`;

const told = (field: string, value: unknown): string => (/_(?:at|time)$/u.test(field) ? moment(value) : words(value));

const plain = (text: string): string => sanitize(text, { keepNewlines: true });

/** A value in words; what is empty has none. */
function words(value: unknown): string {
  if (value === null || value === undefined || value === '') return '';
  if (Array.isArray(value)) return value.map(words).filter(Boolean).join(', ');
  if (isRecord(value)) {
    return Object.entries(value)
      .map(([key, held]) => `${plain(key)}: ${words(held)}`)
      .join(', ');
  }
  return plain(String(value));
}

/** `2026-01-31 09:00`; what is no time stays as it is. */
function moment(value: unknown): string {
  const time = new Date(String(value ?? ''));
  return Number.isNaN(time.getTime()) ? words(value) : time.toISOString().slice(0, 16).replace('T', ' ');
}

/** person.json and person.html. The same history gives the same bytes, on every machine and every day. */
export function historyZip(history: History): Uint8Array {
  const files = {
    'person.html': strToU8(historyHtml(history)),
    'person.json': strToU8(`${JSON.stringify(history, null, 2)}\n`),
  };
  // The library writes a file's time as this machine's zone has it: the first that the format knows is the same in all.
  return zipSync(files, { level: 9, mtime: new Date(1980, 0, 1) });
}
