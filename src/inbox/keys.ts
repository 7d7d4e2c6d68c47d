import type { Key } from '../screen/keys.ts';
import { type Model, targetsOf } from './model.ts';
import type { Row } from './row.ts';

type Entry = {
  readonly act: string;
  /** As a screen names them: a letter as it is typed, else the name of the key. */
  readonly keys: readonly [string, ...string[]];
  /** As people write them, where that is not the first of them. */
  readonly shown?: string;
  /** For the last line of the screen; without one it stands in `?` alone. */
  readonly brief?: string;
  readonly about: string;
  /** Whether it does something now. */
  readonly works: (model: Model) => boolean;
};

const always = (): boolean => true;

/** Whether there is something to do it to, and it can be done to all of it. */
const forAll =
  (fits: (row: Row) => boolean) =>
  (model: Model): boolean => {
    const rows = targetsOf(model);
    return rows.length > 0 && rows.every(fits);
  };

const isThread = ({ kind }: Row): boolean => kind === 'ticket' || kind === 'conversation';

const isTicket = ({ kind }: Row): boolean => kind === 'ticket';

const isUnder =
  (...states: readonly string[]) =>
  ({ status }: Row) =>
    status === null || states.includes(status);

const isOver = isUnder('resolved', 'closed');

const isNotOver = ({ status }: Row): boolean => status !== 'resolved' && status !== 'closed';

const hasRows = ({ list }: Model): boolean => (list.total ?? list.rows.length) > 0;

/** Every key of the inbox, by what it is for: `?`, the last line, `--linear` and docs/inbox.md are made of it. */
const groups = {
  Move: [
    { act: 'down', keys: ['j', 'down'], shown: 'j ↓', about: 'one down', works: hasRows },
    { act: 'up', keys: ['k', 'up'], shown: 'k ↑', about: 'one up', works: hasRows },
    { act: 'page-down', keys: ['pagedown', 'space'], shown: 'PgDn', about: 'a page down', works: hasRows },
    { act: 'page-up', keys: ['pageup'], shown: 'PgUp', about: 'a page up', works: hasRows },
    { act: 'first', keys: ['g', 'home'], about: 'to the first', works: hasRows },
    { act: 'last', keys: ['G', 'end'], about: 'to the last', works: hasRows },
    {
      act: 'open',
      ...{ keys: ['enter'], shown: 'Enter', brief: 'open', about: 'open it' },
      works: (model) => hasRows(model) && model.focus === 'list',
    },
    {
      act: 'sides',
      ...{ keys: ['tab'], shown: 'Tab', brief: 'sides', about: 'between the list and the thread' },
      works: ({ opened }) => opened !== undefined,
    },
    { act: 'search', keys: ['/'], brief: 'search', about: 'search the copy', works: always },
    { act: 'view', keys: ['v'], brief: 'view', about: 'another view', works: always },
  ],
  Answer: [
    {
      act: 'reply',
      ...{ keys: ['r'], brief: 'reply', works: forAll(isThread) },
      about: 'reply in your editor, with the thread below the scissors line',
    },
    {
      act: 'template',
      ...{ keys: ['t'], brief: 'template', works: forAll(isThread) },
      about: 'reply with a template: pick it, see it, send it',
    },
    {
      act: 'draft',
      ...{ keys: ['d'], brief: 'draft', works: forAll(isThread) },
      about: 'write a reply that becomes a draft',
    },
    { act: 'note', keys: ['n'], brief: 'note', about: 'add an internal note (tickets)', works: forAll(isTicket) },
    {
      act: 'approve',
      ...{ keys: ['a'], brief: 'approve', about: 'send a draft that you have read (in drafts)' },
      works: (model) => model.view === 'drafts' && forAll(({ kind }) => kind === 'draft')(model),
    },
    {
      act: 'take-back',
      ...{ keys: ['u'], brief: 'undo' },
      about: 'take back a send that is held (its text stays a draft), else open again what was resolved or closed last',
      works: ({ jobs, undo }) => undo !== undefined || jobs.some(({ state }) => state === 'held'),
    },
  ],
  Sort: [
    {
      act: 'resolve',
      ...{ keys: ['e'], brief: 'resolve', works: forAll((row) => isThread(row) && isNotOver(row)) },
      about: 'resolve; of a conversation svc asks first, for the customer may hear of it',
    },
    {
      act: 'close',
      ...{ keys: ['c'], brief: 'close', about: 'close (tickets)' },
      works: forAll((row) => isTicket(row) && row.status !== 'closed'),
    },
    {
      act: 'reopen',
      ...{ keys: ['o'], brief: 'reopen', about: 'open again (tickets)' },
      works: forAll((row) => isTicket(row) && isOver(row)),
    },
    { act: 'priority', keys: ['p'], brief: 'priority', about: 'set the priority (tickets)', works: forAll(isTicket) },
    {
      act: 'snooze',
      ...{ keys: ['z'], brief: 'snooze', works: forAll(isThread) },
      about: 'put away for a while; in snoozed: bring back',
    },
    {
      act: 'mark',
      ...{ keys: ['x'], brief: 'mark', works: hasRows },
      about:
        'mark several: the next key is for all of them, and asks once; another view or a search takes the marks away',
    },
  ],
  'The rest': [
    { act: 'copy', keys: ['y'], about: 'copy the id', works: forAll(always) },
    { act: 'pull', keys: ['R'], about: 'look for what is new now', works: always },
    {
      act: 'read',
      ...{ keys: ['escape'], shown: 'Esc', works: always },
      about: 'back, from a search too; or take away the line that tells what happened',
    },
    { act: 'suspend', keys: ['ctrl-z'], shown: 'Ctrl-Z', about: 'back to the shell; fg returns', works: always },
    { act: 'help', keys: ['?'], brief: 'keys', about: 'all keys', works: always },
    { act: 'end', keys: ['q', 'ctrl-c'], brief: 'end', about: 'end', works: always },
  ],
} as const satisfies Readonly<Record<string, readonly Entry[]>>;

/** What a key does. */
export type Act = (typeof groups)[keyof typeof groups][number]['act'];

export type KeyEntry = Entry & { readonly act: Act; readonly shown: string; readonly group: string };

export const keys: readonly KeyEntry[] = Object.entries(groups).flatMap(([group, entries]) =>
  entries.map((entry) => ({ shown: entry.keys[0], ...entry, group })),
);

/** What is typed by it where that is one character, else its name. */
export const plain = ({ name, text }: Key): string => (name !== 'space' && [...text].length === 1 ? text : name);

/** How the table names a key: `G`, `enter`, `ctrl-c`. */
function nameOfKey(key: Key): string {
  if (key.ctrl) return `ctrl-${key.name}`;
  return key.alt || key.name === 'paste' ? '' : plain(key);
}

/** What the key is for. */
export function entryOf(key: Key): KeyEntry | undefined {
  const named = nameOfKey(key);
  return keys.find((entry) => entry.keys.includes(named));
}

/** What the key does now; undefined where it does nothing. */
export function actOf(model: Model, key: Key): Act | undefined {
  const entry = entryOf(key);
  return entry?.works(model) ? entry.act : undefined;
}
