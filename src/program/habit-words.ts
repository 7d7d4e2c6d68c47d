import type { Command, Group } from '../command/command.ts';
import { longName } from '../command/flag-words.ts';
import { globalFlags } from '../command/global-flags.ts';
import { argName, flagName } from '../command/param.ts';
import { outputs } from '../config/outputs.ts';
import { ownOf } from '../text/record.ts';

/** What gh, stripe, hookdeck and the like call a command: behind `svc` ('') or a group, the words that it has here. */
export const commandHabits: Habits = {
  '': {
    ...{ listen: 'webhooks listen', forward: 'webhooks listen', trigger: 'webhooks trigger' },
    ...{ logs: 'webhooks inbox list', log: 'webhooks inbox list', tail: 'watch', serve: 'webhooks serve' },
    ...{ replay: 'webhooks inbox replay', resend: 'webhooks inbox replay', retry: 'webhooks dead retry' },
    ...{ sync: 'contacts sync', import: 'contacts sync', export: 'contacts export', find: 'contacts find' },
    ...{ search: 'mirror search', sql: 'mirror sql', query: 'mirror sql', pull: 'mirror pull' },
    ...{ release: 'changelog release', releases: 'changelog list', publish: 'changelog publish' },
    ...{ issue: 'tickets', issues: 'tickets', customer: 'contacts', customers: 'contacts', people: 'contacts' },
    ...{ chat: 'conversations', chats: 'conversations', reply: 'tickets reply', close: 'tickets close' },
    ...{ answer: 'tickets reply', note: 'tickets note', segment: 'lists', segments: 'lists' },
    ...{ resolve: 'tickets resolve', reopen: 'tickets reopen', status: 'whoami', me: 'whoami', signin: 'login' },
    ...{ init: 'login', setup: 'login', configure: 'login', profile: 'auth list', profiles: 'auth list' },
    ...{ env: 'help environment', environment: 'help environment', flags: 'help flags' },
    ...{ approve: 'drafts approve', reject: 'drafts reject', sends: 'help sends', policy: 'help sends' },
    ...same(['upgrade', 'update', 'self-update'], 'doctor --check-update URL'),
    ...{ settings: 'config', setting: 'config', tunnel: 'webhooks listen --tunnel cloudflared', undo: 'audit list' },
    ...{ man: 'help', manual: 'help', docs: 'help' },
    ...{ commands: 'help commands', topics: 'help topics', exec: 'sandbox exec', demo: 'sandbox demo' },
  },
  contacts: { import: 'sync', upload: 'sync', upsert: 'sync', download: 'export', lookup: 'find', search: 'find' },
  tickets: { comment: 'note', answer: 'reply', send: 'reply', solve: 'resolve', open: 'reopen' },
  conversations: { answer: 'reply', send: 'reply', close: 'resolve' },
  lists: {
    ...{ contacts: 'members', get: 'members', show: 'members', view: 'members' },
    ...same(['export', 'download'], 'members'),
  },
  changelog: { sync: 'release', draft: 'create' },
  events: { create: 'send', track: 'send', emit: 'send', fire: 'send' },
  roadmap: { list: 'get', ls: 'get' },
  webhooks: {
    ...{ logs: 'inbox list', log: 'inbox list', tail: 'inbox list', events: 'inbox list', history: 'inbox list' },
    ...{ deliveries: 'inbox list', forward: 'listen', resend: 'inbox replay', replay: 'inbox replay' },
    ...{ retry: 'dead retry', subscribe: 'create', unsubscribe: 'delete', test: 'trigger', send: 'trigger' },
  },
  mirror: {
    ...{ sync: 'pull', update: 'pull', refresh: 'pull', fetch: 'pull', clone: 'pull', query: 'sql', select: 'sql' },
    ...{ find: 'search', grep: 'search', log: 'changes', history: 'changes', tables: 'schema' },
    ...{ delete: 'forget', drop: 'forget', rm: 'forget', reset: 'forget' },
  },
  drafts: {
    ...{ send: 'approve', publish: 'approve', submit: 'approve', accept: 'approve', release: 'approve' },
    ...{ delete: 'reject', rm: 'reject', remove: 'reject', discard: 'reject', drop: 'reject', update: 'edit' },
  },
  audit: { log: 'list', history: 'list', check: 'verify', search: 'list --record' },
  sandbox: { run: 'exec', up: 'start', serve: 'start' },
  auth: { use: 'switch', whoami: 'status' },
  config: same(['edit', 'add', 'update'], 'set'),
};

type Habits = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The words behind `svc` for what another group has. */
export const elsewhereHabits: Habits = {
  events: {
    ...same(['resend', 'replay', 'redeliver'], 'webhooks inbox replay'),
    ...same(['list', 'ls', 'log', 'logs', 'history', 'get', 'show', 'view'], 'webhooks inbox list'),
    ...{ trigger: 'webhooks trigger', test: 'webhooks trigger', listen: 'webhooks listen', tail: 'webhooks listen' },
    ...{ retry: 'webhooks dead retry' },
  },
  // It names the folders.
  config: same(['path', 'where', 'file', 'dir', 'folder', 'location'], 'doctor'),
};

/** What may be meant as well, behind `svc`: it is named second. */
export const otherHabits: Habits = { '': same(['logs', 'log'], 'audit list') };

/** The command of the group that may be meant as well, and reaches somebody: it is named second. */
export const loudHabits: Habits = {
  tickets: { comment: 'reply' },
  events: { log: 'send', trigger: 'send' },
};

export const habitIn = (habits: Habits, group: string, word: string): string | undefined =>
  ownOf(habits[group] ?? {}, word);

/** The same in any group that has the command on the right. */
const anywhere: Readonly<Record<string, string>> = {
  ...{ edit: 'update', modify: 'update', change: 'update', add: 'create', make: 'create' },
  ...{ remove: 'delete', destroy: 'delete', find: 'list --search', search: 'list --search', import: 'create --from' },
};

/** What the word stands for here, behind the same words as it; undefined where nobody means anything by it. */
export function habitualCommand(word: string, group: Group | undefined): string | undefined {
  const own = habitIn(commandHabits, group?.name ?? '', word);
  if (own !== undefined) return own;
  const meant = group && ownOf(anywhere, word);
  const [name, flag] = meant?.split(' ') ?? [];
  const child = group?.commands.find((one) => one.name === name);
  if (!child || 'commands' in child) return undefined;
  return flag === undefined || flagsOf(child).includes(flag) ? meant : undefined;
}

const topicHabits: Readonly<Record<string, string>> = {
  ...same(['policy', 'policies', 'rules', 'modes', 'mode', 'hold', 'send', 'approval'], 'sends'),
  ...{ env: 'environment', variables: 'environment', errors: 'exit-codes', codes: 'exit-codes' },
  ...{ jq: 'output', json: 'output', csv: 'output', format: 'output', formats: 'output', fields: 'output' },
  ...{ ci: 'scripting', scripts: 'scripting', options: 'flags', numbers: 'ids', emails: 'ids' },
};

/** The topic that has what people look for under another name. */
export const habitualTopic = (word: string): string | undefined => ownOf(topicHabits, word);

/** What a flag of another program may be here, the likeliest first; in capitals an argument. */
const flagHabits: Readonly<Record<string, readonly string[]>> = {
  '--query': ['--search', 'QUERY', 'WORDS', 'TEXT', '--jq'],
  '--search': ['QUERY', 'WORDS', 'TEXT', '--filter'],
  '--filter': ['--search', '--status', '--jq'],
  '-L': ['--limit'],
  '-n': ['--limit', '--dry-run'],
  ...same(['--count', '--max', '--max-results', '--top', '--first'], ['--limit']),
  ...same(['--page-size', '--size'], ['--per-page', '--limit']),
  ...same(['--event', '--events', '--event-type', '--topic'], ['EVENT', '--events', '--filter']),
  ...same(['--url', '--endpoint', '--target', '--forward-url', '--forward'], ['URL', '--forward-to', '--to']),
  ...same(
    ['--file', '--path', '-f', '-F', '--in'],
    ['FILE', '--body-file', '--content-file', '--from', '--notes-file', '--body', '--input'],
  ),
  ...same(['--csv', '--from-file'], ['FILE', '--from']),
  ...same(['--body', '--message', '-m', '-b', '--text', '--comment'], ['--body', '--description', '--content']),
  ...same(['--title', '-t', '--summary'], ['--title', '--subject', '--name']),
  ...same(['--state', '-s'], ['--status']),
  ...same(['--tag', '--tags', '--label', '--labels', '-l'], ['--label', '--labels', '--tags', 'VERSION']),
  '--version': ['VERSION'],
  '--id': ['ID'],
  '--client': ['CLIENT'],
  ...same(['--customer', '--requester', '--user', '--email'], ['--contact', '--contact-id', '--email', 'TEXT']),
  ...same(['--since', '--after'], ['--since', '--updated-since', '--created-since']),
  ...same(['--before', '--until'], ['--created-before']),
  ...same(['--order', '--order-by', '--sort-by'], ['--sort']),
  ...same(['--due', '--due-date'], ['--due-at']),
  ...same(['--date', '--publish-at', '--schedule'], ['--at', '--published-at']),
  ...same(['--columns', '--select'], ['--fields']),
  '--format': ['--output'],
  '--template': ['--jq'],
  '--from': ['FILE'],
  ...same(['--paginate', '--no-limit'], ['--all']),
  '--all': ['--paginate'],
  ...same(['--preview', '--noop', '--simulate'], ['--dry-run']),
  ...same(['--force', '--confirm', '--no-confirm'], ['--yes']),
  ...same(['--verbose', '--trace', '--log-level'], ['--debug']),
  ...same(['--account', '--env', '--environment', '--project-name'], ['--profile']),
  ...same(['--non-interactive', '--no-prompt', '--no-interactive'], ['--no-input']),
};

function same<T>(names: readonly string[], meant: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, meant]));
}

/** What a command has no flag for is done otherwise. */
const elsewhere: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'contacts update': same(['--tag', '--tags'], ['Tags are added by svc contacts sync --tag, and cannot be taken off']),
  'tickets update': {
    ...same(['--assign', '--assignee'], ['The service shows nobody whom a ticket is assigned to']),
    ...same(['--contact', '--contact-id'], ['The requester of a ticket is set as it is created, and stays']),
  },
  'tickets note': {
    '--status': ['A note sets nothing. To set it: svc tickets update ID --status STATUS'],
    '--priority': ['A note sets nothing. To set it: svc tickets update ID --priority N'],
    '--draft': ['The customer never sees a note. For a reply: svc tickets reply ID --body TEXT --draft'],
    '--hold': ['The customer never sees a note. For a reply: svc tickets reply ID --body TEXT --hold SECONDS'],
  },
  'drafts approve': {
    '--hold': [
      'Approving sends at once. --hold goes on the command that sends: svc tickets reply ID --body TEXT --hold SECONDS',
    ],
  },
  'conversations reply': same(['--status', '--resolve'], ['To resolve it: svc conversations resolve ID']),
  ...same(
    ['tickets close', 'tickets resolve'],
    same(['--reason', '--comment', '--message', '--note'], ['To write down why: svc tickets note ID --body TEXT']),
  ),
  ...same(
    ['changelog create', 'changelog update'],
    same(['--publish', '--published'], ['Did you mean --status published?']),
  ),
  api: same(
    ['--data', '-d', '--data-raw', '--data-binary', '--body', '--json-body'],
    ['The body is read from a file or standard input: --input FILE, --input -. Field by field: -f KEY=TEXT'],
  ),
  'contacts list': same(['--search', '--query', '--email', '--name'], ['To search: svc contacts find WORDS']),
  'tickets list': {
    '--priority': [
      "To see the urgent ones first: --sort -priority. Those alone: --jq 'map(select(.priority == 4))' (3 is high, 2 normal, 1 low, 0 none)",
    ],
  },
};

const isForAll = /^--(?:all|paginate|no-limit)$/u;

/** Every list can be sorted by jq, where svc has no flag for it. */
const sorting = new Set(['--sort', '--order', '--order-by', '--sort-by']);

/** The flag or argument of this command that a strange flag stands for, in a sentence. */
export function habitualFlag(flag: string, command: Command, path: string): string | undefined {
  // `-L5` is -L with its value, and so is `--sort=-id`.
  const word = /^-[^-]/u.test(flag) ? flag.slice(0, 2) : flag.replace(/=.*$/su, '');
  const [other] = elsewhere[path]?.[word] ?? [];
  if (other !== undefined) return other;
  const own = flagsOf(command);
  // Only one that takes no value is refused with one.
  if (flag !== word && flag.startsWith('--') && own.includes(word))
    return `${word} takes no value: give it alone, or leave it out.`;
  if (/^--(?:desc|descending|reverse)$/u.test(word) && own.includes('--sort'))
    return 'The largest first: --sort -FIELD';
  if (isForAll.test(word) && /\b(?:list|members)$/u.test(path) && !own.includes('--all'))
    return `Leave out ${word}: svc ${path} shows all of them.`;
  const meant = ownOf(flagHabits, word) ?? [];
  const args = Object.entries(command.args).map(([key, arg]) => argName(key, arg));
  const found = meant.find((one) => (one.startsWith('-') ? own.includes(one) : args.includes(one)));
  if (found === undefined || found === word) {
    const format = outputs.find((name) => word === `--${name}`);
    if (format !== undefined && own.includes('--output')) return `Did you mean -o ${format}?`;
    if (own.includes(word.replace(/^--no-/u, '--'))) return notGiven(word);
    if (sorting.has(word) && own.includes('--limit')) return "To sort what is read: --jq 'sort_by(.FIELD)'";
    const [begun, ...more] = own.filter((one) => word.length > 3 && one.startsWith(word));
    return begun === undefined || more.length > 0 ? undefined : `Did you mean ${begun}?`;
  }
  if (found.startsWith('-')) return `Did you mean ${found}?`;
  return `${found} has no flag, it is an argument: svc ${path} ${args.join(' ')}`;
}

/** `--no-json`: what a flag does is not done where it is left out. */
const notGiven = (word: string): string =>
  `Leave out ${word}: --${word.slice(5)} is off unless it is given.${word === '--no-json' ? ' Where a setting says json: -o table' : ''}`;

const flagsOf = ({ flags }: Command): readonly string[] => [
  ...Object.entries(flags).map(([key, flag]) => `--${flagName(key, flag)}`),
  ...globalFlags.map(([term]) => longName(term)),
];
