/** Lines that work as they stand; `contacts.csv` and `CHANGELOG.md` are the reader's own files. */
export type Recipe = { readonly title: string; readonly lines: readonly string[]; readonly about: string };

/** What people ask an assistant for. Each is run in a sandbox by test/skill/recipes.test.ts. */
export const recipes = {
  find: {
    title: 'Find a customer and what they asked',
    lines: [
      'svc contacts find yara --json --fields contact_id,name,email',
      'svc tickets list --status unresolved --limit 10 --json --fields id,ticket_number,subject,contact.email',
      'svc tickets get T-1008 --json',
    ],
    about: 'Nothing is changed. A contact is also found by its email wherever an id is taken: svc contacts get EMAIL.',
  },
  answer: {
    title: 'Answer a ticket',
    lines: [
      'svc tickets note T-1008 --body "Cause found: the export ran out of memory."',
      'svc tickets reply T-1008 --body "The export works again. Please try once more."',
      'svc tickets resolve T-1008',
    ],
    about: 'The note stays internal. The reply is a real message to the customer: show its text to the user first.',
  },
  draft: {
    title: 'Leave an answer for the user to approve',
    lines: [
      'svc tickets reply T-1009 --body "A new version is out. Does it work now?" --draft --json',
      'svc drafts list --json --fields id,state,to,body',
    ],
    about:
      'Nothing is sent. Tell the user the id: they read it with svc drafts show ID and send it with svc drafts approve ID.',
  },
  importContacts: {
    title: 'Import contacts from a CSV file',
    lines: [
      'svc contacts sync contacts.csv --dry-run --json',
      'svc contacts sync contacts.csv --rejects rejects.csv --json',
    ],
    about:
      'Safe to repeat: matched by email, blanks are filled, existing values kept. Exit 8 says that some rows were rejected; rejects.csv has them with the reason.',
  },
  list: {
    title: 'Put contacts into a list',
    lines: ['svc lists list --json', 'svc lists add 1 --contact 7 --contact 8', 'svc lists members 1 --limit 5 --json'],
    about: 'add never disturbs the other members. set replaces all of them.',
  },
  update: {
    title: 'Change a contact',
    lines: ['svc contacts update 7 --company "Example Ltd" --metadata plan=pro --json'],
    about: 'Only what is given changes; metadata is merged key by key.',
  },
  ticket: {
    title: 'Open a ticket for a customer',
    lines: [
      'svc tickets create --subject "Export fails" --description "Reported by phone." --priority 3 --contact 7 --json',
    ],
    about: 'The customer gets no email of it.',
  },
  changelog: {
    title: 'Publish the changelog of a release',
    lines: ['svc changelog release --dry-run --json', 'svc changelog release --json'],
    about: 'Takes the newest version of CHANGELOG.md. However often it runs: one entry, one announcement.',
  },
  chats: {
    title: 'Work through open chats',
    lines: [
      'svc conversations list --status unresolved --json --fields id,contact.email,last_message_at',
      'svc conversations get 1 --json',
    ],
    about: 'A reply takes the chat from the AI: svc conversations reply ID --body TEXT.',
  },
  event: {
    title: 'Tell the product of an order',
    lines: [
      'svc events send order_create --contact-name Ada --email ada@example.com --value 19.99 --currency EUR --json',
    ],
    about: 'It may start a sequence of messages to the contact. It cannot be looked up: never send it twice.',
  },
  ask: {
    title: 'Ask a question over the whole account',
    lines: [
      'svc mirror pull',
      'svc mirror sql "SELECT status, count(*) AS tickets FROM tickets GROUP BY status" --json',
      'svc mirror search export --json',
    ],
    about: 'The copy is on this machine and cannot change the account. svc mirror schema shows its tables.',
  },
  many: {
    title: 'Do the same to many records',
    lines: [
      'svc tickets close --from tickets.csv --dry-run --json',
      'svc tickets close --from tickets.csv --yes --json',
    ],
    about:
      'Every command that writes one record takes --from. The same line again goes on where it stopped; no row is sent twice.',
  },
  backup: {
    title: 'Save every contact to a file',
    lines: ['svc contacts export --out all-contacts.csv'],
    about: 'With --output jsonl as JSON Lines.',
  },
} as const satisfies Readonly<Record<string, Recipe>>;
