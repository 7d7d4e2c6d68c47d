import type { Output } from '../api/operation.ts';
import type { getTicket } from '../api/tickets.ts';
import type { SendMode } from '../config/settings.ts';
import { localTime } from '../output/cells.ts';
import { insteadOf } from '../promise/instead-of.ts';
import { fullName } from '../text/full-name.ts';
import { sanitize } from '../text/sanitize.ts';

/** As git marks it. Only this line counts, so headings of Markdown above it stay. */
const scissors = '# ------------------------ >8 ------------------------';

type Person = NonNullable<Output<typeof getTicket>['ticket']['contact']>;

type Message = { readonly sender_name: string; readonly body: string; readonly created_at: string };

/** What whoever writes wants to see: who will read it, about what, and what was said last. */
export type Seed = {
  readonly to: string;
  readonly about: string;
  readonly last: Message | undefined;
};

const shownLines = 40;

/** The text that the editor opens with. Everything from the scissors on is left out of what is sent. */
export const seeded = ({ to, about, last }: Seed, fate: Fate): string =>
  seededThread({ to, about, fate }, last ? [last] : []);

/** What becomes of the text once the editor ends: as the modes of sends, and `shown` of a dry run. */
export type Fate = SendMode | 'shown';

const fates: Readonly<Record<Fate, string>> = {
  allow: 'What is saved is sent once you quit the editor.',
  ask: 'Once you quit the editor, svc asks before it sends what is saved.',
  draft: 'What is saved becomes a draft once you quit the editor; nothing is sent yet.',
  shown: 'This is a dry run: what is saved is shown once you quit the editor, and not sent.',
};

type Heading = Pick<Seed, 'to' | 'about'> & { readonly fate: Fate };

/** The same with more of the thread, the newest message first. */
export const seededThread = ({ to, about, fate }: Heading, messages: readonly Message[]): string =>
  page([
    'Write above this line. It and everything below it are left out.',
    `${fates[fate]} An empty text sends nothing.`,
    '',
    `To:     ${sanitize(to)}`,
    `About:  ${sanitize(about)}`,
    ...messages.flatMap(({ sender_name: who, body, created_at: at }) => [
      '',
      `${sanitize(who)} wrote at ${localTime(at)}:`,
      '',
      ...quoted(body),
    ]),
  ]);

function quoted(body: string): string[] {
  const lines = sanitize(body, { keepNewlines: true }).trim().split('\n');
  const more = lines.length - shownLines;
  return [...lines.slice(0, shownLines).map((line) => `> ${line}`), ...(more > 0 ? [`(${more} more lines)`] : [])];
}

/** Who will read it and about what: two lines. */
export const headOf = ({ to, about }: Seed): string => `To: ${sanitize(to)}\nAbout: ${sanitize(about)}`;

/** For a text that answers nothing: an empty editor would not tell what it is open for. */
export const blankPage = (field: string, of = ''): string =>
  page([
    `Write the ${field}${of && ` of the ${sanitize(of)}`} above this line.`,
    'It and everything below it are left out. A text left empty sends nothing.',
  ]);

const page = (lines: readonly string[]): string =>
  `\n${scissors}\n${lines.map((line) => `# ${line}`.trimEnd()).join('\n')}\n`;

/**
 * What was written. Where the scissors are gone, the first line of the seed that is left marks the end: what was put
 * there to be read by us must never reach a customer.
 */
export function withoutSeed(text: string, seed: string): string {
  const lines = text.split(/\r?\n/u);
  const marks = seed.split('\n').filter((line) => line.length > 2);
  const at = lines.findIndex((line) => line.trimEnd() === scissors);
  const end = at >= 0 ? at : lines.findIndex((line) => marks.includes(line.trimEnd()));
  return (end < 0 ? lines : lines.slice(0, end)).join('\n').replace(/^(?:[ \t]*\n)+/u, '');
}

export function personOf(
  contact: Pick<Person, 'name' | 'last_name' | 'email' | 'phone'> | null,
  otherwise: string,
): string {
  if (!contact) return otherwise;
  const name = fullName(contact);
  const address = contact.email || contact.phone;
  return [name, address && `<${address}>`].filter(Boolean).join(' ') || otherwise;
}

/** Who may write and not read writes without a seed. */
export const seedOrNone = (read: () => Promise<Seed>, show: (seed: Seed) => string): Promise<string> =>
  read()
    .then(show)
    .catch(insteadOf(['forbidden'], ''));
