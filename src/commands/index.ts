import { hearersOf } from '../api/hearers.ts';
import { type AnyCommand, type Group, operationOf, type TopGroup } from '../command/command.ts';
import { takingDryRuns } from '../command/dry-run.ts';

/** What the program knows of a group before it is named: enough for help and completion, nothing loaded. */
export type CommandEntry = {
  readonly name: string;
  /** The singular, and other accepted names. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly section: 'core' | 'growth' | 'developers' | 'setup';
  readonly load: () => Promise<TopGroup | AnyCommand>;
};

/** The command tree, in the order of the help. */
const tree: Readonly<Record<string, Omit<CommandEntry, 'name'>>> = {
  inbox: {
    summary: 'What needs a person, full-screen: single keys to deal with it',
    section: 'core',
    load: async () => (await import('./inbox/index.ts')).inbox,
  },
  contacts: {
    aliases: ['contact'],
    summary: 'Contacts: look up, change, import and export',
    section: 'core',
    load: async () => (await import('./contacts/index.ts')).contacts,
  },
  lists: {
    aliases: ['list'],
    summary: 'Contact lists and their members',
    section: 'core',
    load: async () => (await import('./lists/index.ts')).lists,
  },
  tickets: {
    aliases: ['ticket'],
    summary: 'Support tickets',
    section: 'core',
    load: async () => (await import('./tickets/index.ts')).tickets,
  },
  conversations: {
    aliases: ['conversation'],
    summary: 'Live chat conversations',
    section: 'core',
    load: async () => (await import('./conversations/index.ts')).conversations,
  },
  drafts: {
    aliases: ['draft'],
    summary: 'What waits for a person before it is sent',
    section: 'core',
    load: async () => (await import('./drafts/index.ts')).drafts,
  },
  calls: {
    aliases: ['call'],
    summary: 'Phone calls',
    section: 'core',
    load: async () => (await import('./calls/index.ts')).calls,
  },
  meetings: {
    aliases: ['meeting'],
    summary: 'Bookable meeting types',
    section: 'core',
    load: async () => (await import('./meetings/index.ts')).meetings,
  },
  changelog: {
    summary: 'Entries of the public changelog; svc changelog release for CI',
    section: 'growth',
    load: async () => (await import('./changelog/index.ts')).changelog,
  },
  feedback: {
    summary: 'Posts on the feedback board',
    section: 'growth',
    load: async () => (await import('./feedback/index.ts')).feedback,
  },
  roadmap: {
    summary: 'The public roadmap',
    section: 'growth',
    load: async () => (await import('./feedback/index.ts')).roadmap,
  },
  events: {
    aliases: ['event'],
    summary: 'Product events that start sequences',
    section: 'growth',
    load: async () => (await import('./events/index.ts')).events,
  },
  webhooks: {
    aliases: ['webhook'],
    summary: 'Webhook subscriptions, and a receiver for this machine',
    section: 'developers',
    load: async () => (await import('./webhooks/index.ts')).webhooks,
  },
  mirror: {
    summary: 'A copy of the account on this machine: ask it anything',
    section: 'developers',
    load: async () => (await import('./mirror/index.ts')).mirror,
  },
  watch: {
    summary: 'Show what changes in the account, as it changes',
    section: 'core',
    load: async () => (await import('./watch/index.ts')).watchAccount,
  },
  report: {
    summary: 'The week in numbers, or the day or the month, from the local copy',
    section: 'core',
    load: async () => (await import('./report/index.ts')).report,
  },
  rehearse: {
    summary: 'What a command would change, tried on the copy of the account',
    section: 'developers',
    load: async () => (await import('./sandbox/rehearse.ts')).rehearseOver(isCommand),
  },
  branding: {
    summary: 'Colours, logos and voice of the account',
    section: 'growth',
    load: async () => (await import('./account/index.ts')).branding,
  },
  api: {
    summary: 'Send any request with your credential; svc api ls lists every operation',
    section: 'developers',
    load: async () => (await import('./api/index.ts')).api,
  },
  mcp: {
    summary: 'Serve the account to an AI assistant',
    section: 'developers',
    load: async () => (await import('./mcp/index.ts')).mcp,
  },
  skill: {
    summary: 'What an assistant should know about svc: print it, or install it',
    section: 'developers',
    // It tells of the others, so it gets them.
    load: async () => (await import('./skill/index.ts')).skillOver(entries),
  },
  openapi: {
    summary: 'The OpenAPI 3.1 description of the service',
    section: 'developers',
    load: async () => (await import('./openapi/index.ts')).openapi,
  },
  audit: {
    summary: 'The record of writes: who wrote what, and whether it is whole',
    section: 'setup',
    load: async () => (await import('./audit/index.ts')).audit,
  },
  login: {
    summary: 'Log in, in the browser or with a key (svc auth login)',
    section: 'setup',
    load: async () => (await import('./auth/login.ts')).authLogin,
  },
  logout: {
    summary: 'Revoke a login and forget it (svc auth logout)',
    section: 'setup',
    load: async () => (await import('./auth/logout.ts')).authLogout,
  },
  whoami: {
    summary: 'Show the account and what the credentials may do (svc auth status)',
    section: 'setup',
    load: async () => ({ ...(await import('./auth/status.ts')).authStatus, name: 'whoami' }),
  },
  auth: {
    summary: 'Logins and credentials',
    section: 'setup',
    load: async () => (await import('./auth/index.ts')).auth,
  },
  each: {
    summary: 'Run a command for many accounts',
    section: 'setup',
    load: async () => (await import('./each/index.ts')).eachOver(loadNamed),
  },
  doctor: {
    summary: 'What is wrong with this set-up, and how to fix it',
    section: 'setup',
    load: async () => (await import('./doctor/index.ts')).doctor,
  },
  config: {
    summary: 'Settings of svc',
    section: 'setup',
    load: async () => (await import('./config/index.ts')).config,
  },
  templates: {
    aliases: ['template'],
    summary: 'Texts that you use again',
    section: 'setup',
    load: async () => (await import('./templates/index.ts')).templates,
  },
  views: {
    aliases: ['view'],
    summary: 'The views of svc inbox, and your own',
    section: 'setup',
    load: async () => (await import('./views/index.ts')).views,
  },
  alias: {
    summary: 'Names of your own for commands',
    section: 'setup',
    load: async () => (await import('./alias/index.ts')).alias(loadNamed),
  },
  account: {
    summary: 'The account itself',
    section: 'setup',
    load: async () => (await import('./account/index.ts')).account,
  },
  sandbox: {
    summary: 'The whole service on this machine, to try and to test against',
    section: 'developers',
    load: async () => (await import('./sandbox/index.ts')).sandboxOver(isCommand),
  },
  completion: {
    summary: 'Completions for your shell',
    section: 'setup',
    load: async () => (await import('./completion/index.ts')).completion,
  },
};

export const entries: readonly CommandEntry[] = Object.entries(tree).map(([name, entry]) => ({ name, ...entry }));

export const entryNamed = (word = ''): CommandEntry | undefined =>
  entries.find(({ name, aliases }) => name === word || aliases?.includes(word));

const isCommand = (word: string): boolean => entryNamed(word) !== undefined;

export async function loadNamed(word: string): Promise<Group | AnyCommand | undefined> {
  const entry = entryNamed(word);
  return entry && loadEntry(entry);
}

/** What the entry stands for. Commands that write one record take the rows of a file too. */
export async function loadEntry(entry: CommandEntry): Promise<Group | AnyCommand> {
  const { name, summary } = entry;
  const node = await takingRows(takingDryRuns({ name, summary, ...(await entry.load()) }));
  // Most groups reach nobody, and their start need not know how a send is held.
  if (!reachesSomebody(node)) return node;
  return (await import('../command/drafting.ts')).takingDrafts(node);
}

async function takingRows(node: Group | AnyCommand): Promise<Group | AnyCommand> {
  const hasRows = 'commands' in node && node.commands.some((child) => 'row' in child && child.row !== undefined);
  if (!hasRows) return node;
  const { takingFiles } = await import('./from-file.ts');
  return takingFiles(node);
}

function reachesSomebody(node: Group | AnyCommand): boolean {
  if ('commands' in node) return node.commands.some((child) => reachesSomebody(child));
  const operation = operationOf(node);
  return node.sends === true || (operation !== undefined && hearersOf(operation) !== undefined);
}
