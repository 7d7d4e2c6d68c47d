import type { Key } from '../screen/keys.ts';
import { type Model, targetsOf } from './model.ts';
import type { Row } from './row.ts';

/** What a key does. */
export type Act =
  | 'down'
  | 'up'
  | 'page-down'
  | 'page-up'
  | 'first'
  | 'last'
  | 'open'
  | 'sides'
  | 'search'
  | 'view'
  | 'reply'
  | 'template'
  | 'note'
  | 'resolve'
  | 'close'
  | 'reopen'
  | 'priority'
  | 'snooze'
  | 'mark'
  | 'take-back'
  | 'draft'
  | 'approve'
  | 'copy'
  | 'pull'
  | 'read'
  | 'help'
  | 'suspend'
  | 'end';

export type KeyEntry = {
  readonly act: Act;
  /** As a screen names them: a letter as it is typed, else the name of the key. */
  readonly keys: readonly string[];
  /** As people write them. */
  readonly shown: string;
  /** For the last line of the screen; without one it stands in `?` alone. */
  readonly brief?: string;
  readonly about: string;
  readonly group: 'Move' | 'Answer' | 'Sort' | 'The rest';
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

/** Every key of the inbox: `?`, the last line, `--linear` and docs/inbox.md are made of it. */
export const keys: readonly KeyEntry[] = [
  { act: 'down', keys: ['j', 'down'], shown: 'j ↓', about: 'one down', group: 'Move', works: hasRows },
  { act: 'up', keys: ['k', 'up'], shown: 'k ↑', about: 'one up', group: 'Move', works: hasRows },
  { act: 'page-down', keys: ['pagedown', 'space'], shown: 'PgDn', about: 'a page down', group: 'Move', works: hasRows },
  { act: 'page-up', keys: ['pageup'], shown: 'PgUp', about: 'a page up', group: 'Move', works: hasRows },
  { act: 'first', keys: ['g', 'home'], shown: 'g', about: 'to the first', group: 'Move', works: hasRows },
  { act: 'last', keys: ['G', 'end'], shown: 'G', about: 'to the last', group: 'Move', works: hasRows },
  {
    ...{ act: 'open', keys: ['enter'], shown: 'Enter', brief: 'open', group: 'Move' },
    about: 'open it',
    works: (model) => hasRows(model) && model.focus === 'list',
  },
  {
    ...{ act: 'sides', keys: ['tab'], shown: 'Tab', brief: 'sides', group: 'Move' },
    about: 'between the list and the thread',
    works: ({ opened }) => opened !== undefined,
  },
  { act: 'search', keys: ['/'], shown: '/', brief: 'search', about: 'search the copy', group: 'Move', works: always },
  { act: 'view', keys: ['v'], shown: 'v', brief: 'view', about: 'another view', group: 'Move', works: always },
  {
    ...{ act: 'reply', keys: ['r'], shown: 'r', brief: 'reply', group: 'Answer' },
    about: 'reply in your editor, with the thread below the scissors line',
    works: forAll(isThread),
  },
  {
    ...{ act: 'template', keys: ['t'], shown: 't', brief: 'template', group: 'Answer' },
    about: 'reply with a template: pick it, see it, send it',
    works: forAll(isThread),
  },
  {
    ...{ act: 'draft', keys: ['d'], shown: 'd', brief: 'draft', group: 'Answer' },
    about: 'write a reply that becomes a draft',
    works: forAll(isThread),
  },
  {
    ...{ act: 'note', keys: ['n'], shown: 'n', brief: 'note', group: 'Answer' },
    about: 'add an internal note (tickets)',
    works: forAll(isTicket),
  },
  {
    ...{ act: 'approve', keys: ['a'], shown: 'a', brief: 'approve', group: 'Answer' },
    about: 'send a draft that you have read (in drafts)',
    works: (model) => model.view === 'drafts' && forAll(({ kind }) => kind === 'draft')(model),
  },
  {
    ...{ act: 'take-back', keys: ['u'], shown: 'u', brief: 'take back', group: 'Answer' },
    about: 'take back what is held, whose text stays a draft; or open again what one key resolved or closed last',
    works: ({ jobs, undo }) => undo !== undefined || jobs.some(({ state }) => state === 'held'),
  },
  {
    ...{ act: 'resolve', keys: ['e'], shown: 'e', brief: 'resolve', group: 'Sort' },
    about: 'resolve; of a conversation svc asks first, for the customer may hear of it',
    works: forAll((row) => isThread(row) && isNotOver(row)),
  },
  {
    ...{ act: 'close', keys: ['c'], shown: 'c', brief: 'close', group: 'Sort' },
    about: 'close (tickets)',
    works: forAll((row) => isTicket(row) && row.status !== 'closed'),
  },
  {
    ...{ act: 'reopen', keys: ['o'], shown: 'o', brief: 'reopen', group: 'Sort' },
    about: 'open again (tickets)',
    works: forAll((row) => isTicket(row) && isOver(row)),
  },
  {
    ...{ act: 'priority', keys: ['p'], shown: 'p', brief: 'priority', group: 'Sort' },
    about: 'set the priority (tickets)',
    works: forAll(isTicket),
  },
  {
    ...{ act: 'snooze', keys: ['z'], shown: 'z', brief: 'snooze', group: 'Sort' },
    about: 'put away for a while; in snoozed: bring back',
    works: forAll(isThread),
  },
  {
    ...{ act: 'mark', keys: ['x'], shown: 'x', brief: 'mark', group: 'Sort' },
    about:
      'mark several: the next key is for all of them, and asks once; another view or a search takes the marks away',
    works: hasRows,
  },
  { act: 'copy', keys: ['y'], shown: 'y', about: 'copy the id', group: 'The rest', works: forAll(always) },
  { act: 'pull', keys: ['R'], shown: 'R', about: 'look for what is new now', group: 'The rest', works: always },
  {
    ...{ act: 'read', keys: ['escape'], shown: 'Esc', group: 'The rest' },
    about: 'back, from a search too; or take away the line that tells what happened',
    works: always,
  },
  {
    act: 'suspend',
    keys: ['ctrl-z'],
    shown: 'Ctrl-Z',
    about: 'back to the shell; fg returns',
    group: 'The rest',
    works: always,
  },
  { act: 'help', keys: ['?'], shown: '?', brief: 'keys', about: 'all keys', group: 'The rest', works: always },
  { act: 'end', keys: ['q', 'ctrl-c'], shown: 'q', brief: 'end', about: 'end', group: 'The rest', works: always },
];

/** How the table names a key: `G`, `enter`, `ctrl-c`. */
function nameOfKey({ name, ctrl, alt, text }: Key): string {
  if (ctrl) return `ctrl-${name}`;
  if (alt || name === 'paste') return '';
  return name !== 'space' && [...text].length === 1 ? text : name;
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
