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
  'lists',
  'login',
  'logout',
  'mcp',
  'meetings',
  'mirror',
  'rehearse',
  'roadmap',
  'tickets',
  'watch',
  'webhooks',
  'whoami',
];

/** What these do is on this machine alone. */
const localCommands: readonly string[] = ['alias', 'completion', 'help', 'openapi', 'sandbox', 'skill', 'templates'];

/** Also in the singular, which every group is known by. The tree of commands is held to it by a test. */
export const isCommandName = (word: string): boolean =>
  [word, `${word}s`].some((name) => profileCommands.includes(name) || localCommands.includes(name));
