const deleting = ['delete', 'rm', 'remove', 'destroy'];
const creating = ['create', 'new', 'add', 'make'];
const changing = ['update', 'edit', 'modify', 'change', 'set'];

/** `cannot`: behind "The API cannot"; `fact`: what svc itself does not do. `instead`: what to do. */
type NotThere = { readonly words: readonly string[]; readonly instead: string } & (
  | { readonly cannot: string }
  | { readonly fact: string }
);

const inProduct = 'Do it in the product.';

/** What other desks have for what waits. The reminder that svc has is a view of this machine. */
const ofDesks = (records: string): readonly NotThere[] => [
  {
    words: ['snooze', 'unsnooze', 'remind', 'postpone'],
    cannot: `snooze ${records}`,
    instead: 'To put one away on this machine for a while: svc inbox, then z',
  },
  { words: ['assign', 'unassign', 'reassign', 'transfer'], cannot: `assign ${records} to anybody`, instead: inProduct },
  { words: ['tag', 'tags', 'untag', 'label', 'labels'], cannot: `put tags on ${records}`, instead: inProduct },
];

/** What people expect to be there, and is not, as where the API has no operation for it: by group, '' for what stands alone. */
const operations: Readonly<Record<string, readonly NotThere[]>> = {
  '': [
    {
      words: ['uninstall'],
      fact: 'svc is removed the way it came.',
      instead:
        'To forget the logins first: svc logout --all. The folders that stay: svc doctor. Then, for example: npm uninstall --global svc, or sudo apt remove svc',
    },
  ],
  tickets: [
    { words: deleting, cannot: 'delete tickets', instead: 'To end one: svc tickets close ID' },
    ...ofDesks('tickets'),
  ],
  conversations: [
    { words: deleting, cannot: 'delete conversations', instead: 'To end one: svc conversations resolve ID' },
    {
      words: ['comment', 'note'],
      cannot: 'add an internal note to a conversation',
      instead: 'What the customer reads: svc conversations reply ID',
    },
    { words: creating, cannot: 'begin a conversation', instead: 'To answer one: svc conversations reply ID' },
    ...ofDesks('conversations'),
  ],
  contacts: [{ words: [...deleting, 'merge'], cannot: 'delete or merge contacts', instead: inProduct }],
  changelog: [{ words: [...deleting, 'unpublish'], cannot: 'delete or unpublish entries', instead: inProduct }],
  feedback: [
    { words: [...deleting, ...creating, ...changing, 'reply'], cannot: 'change feedback', instead: inProduct },
  ],
  roadmap: [{ words: [...deleting, ...creating, ...changing], cannot: 'change the roadmap', instead: inProduct }],
  calls: [
    {
      words: ['get', 'show', 'view'],
      cannot: 'read one call alone',
      instead: "To see one: svc calls list --all --jq 'map(select(.phone_call_id == ID))'",
    },
    { words: [...deleting, ...creating, ...changing, 'start'], cannot: 'change calls', instead: inProduct },
  ],
  mcp: [
    {
      words: [...deleting, 'uninstall'],
      fact: "svc takes no entry out of an assistant's file.",
      instead: 'Take it out of the file by hand. To see which file it is: svc mcp install CLIENT --dry-run',
    },
  ],
  branding: [
    { words: ['get', 'list', 'ls', 'show', 'view'], cannot: 'show the branding', instead: 'See it in the product.' },
  ],
  meetings: [{ words: [...deleting, ...creating, ...changing], cannot: 'change meeting types', instead: inProduct }],
  webhooks: [
    {
      words: changing,
      cannot: 'change a subscription',
      instead: 'To replace one: svc webhooks create EVENT URL, then svc webhooks delete ID',
    },
  ],
};

/** The sentence and the advice for a word behind a group, where there is nothing for what it means. */
export function notThere(word: string, group: string): { readonly fact: string; readonly instead: string } | undefined {
  const found = operations[group]?.find(({ words }) => words.includes(word));
  return found && { fact: 'fact' in found ? found.fact : `The API cannot ${found.cannot}.`, instead: found.instead };
}
