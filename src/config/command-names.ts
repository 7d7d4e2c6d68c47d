/** Commands that act as a profile at a service: a hint that names one of them says which (advice.ts). */
export const profileCommands: readonly string[] = [
  'account',
  'api',
  'audit',
  'auth',
  'branding',
  'calls',
  'changelog',
  'config',
  'contacts',
  'conversations',
  'doctor',
  'drafts',
  'events',
  'feedback',
  'inbox',
  'lists',
  'login',
  'logout',
  'mcp',
  'meetings',
  'mirror',
  'rehearse',
  'report',
  'roadmap',
  'tickets',
  'watch',
  'webhooks',
  'whoami',
];

/** Commands that take --db: a hint that names one of them says which copy (advice.ts). The tree of commands is held to it by a test. */
export const copyCommands: readonly string[] = [
  'contacts duplicates',
  'contacts history',
  'inbox',
  'mirror changes',
  'mirror export',
  'mirror forget',
  'mirror pull',
  'mirror schema',
  'mirror search',
  'mirror sql',
  'mirror status',
  'report',
  'tickets waiting',
  'watch',
];

/** What these do is on this machine alone. */
const localCommands: readonly string[] = [
  'alias',
  'completion',
  'each',
  'help',
  'openapi',
  'sandbox',
  'skill',
  'templates',
  'views',
];

export const commandNames: readonly string[] = [...profileCommands, ...localCommands];

/** Also in the singular, which every group is known by. The tree of commands is held to it by a test. */
export const isCommandName = (word: string): boolean => [word, `${word}s`].some((name) => commandNames.includes(name));
