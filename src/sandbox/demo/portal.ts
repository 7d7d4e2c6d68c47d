import type { Row, Rows } from '../store/records.ts';
import { acme, ago, globex, type Moment, pick } from './moment.ts';

const news: readonly (readonly [title: string, category: number, intro: string, ...items: string[]])[] = [
  [
    'Shared inboxes',
    1,
    'Several teams can now work from one account.',
    'An inbox for each team',
    'Hours for each inbox',
  ],
  ['Faster search', 2, 'Search answers while you type.', 'Tickets, contacts and conversations at once'],
  ['Fixed: exports that stopped early', 3, 'Exports of more than 10,000 rows are whole again.'],
  ['Booking pages in Danish', 1, 'Your booking pages speak one language more.'],
  [
    'Quieter notifications',
    2,
    'One summary an hour instead of one mail for each reply.',
    'Off for those who prefer each one',
  ],
  ['Fixed: time zones in invitations', 3, 'Invitations show the time of whoever is invited.'],
  [
    'Call summaries',
    1,
    'Every call ends with three lines of what was said.',
    'Next steps as tasks',
    'In the contact and by email',
  ],
  ['Bulk tagging', 2, 'Tag everyone in a list at once.'],
  ['Fixed: doubled chat messages', 3, 'Messages sent on a shaky connection arrive once.'],
  [
    'Webhooks',
    1,
    'Six events reach your own systems, signed.',
    'contact.created',
    'ticket.created',
    'changelog.published',
  ],
];
const labelSets = [[], ['inbox'], ['api', 'developers'], ['calls'], ['mobile'], ['inbox', 'teams']];

export function changelog(moment: Moment): Pick<Rows, 'changelog' | 'changelog_categories'> {
  const entries = Array.from({ length: 32 }, (_, at) => entry(moment, at + 1));
  const category = (id: number, account_id: number, name: string) => ({ id, account_id, name });
  return {
    changelog: [
      ...entries,
      { ...entry(moment, 33), account_id: globex, category_id: null, slug: 'hello', title: 'Hello' },
    ],
    changelog_categories: [
      category(1, acme, 'New'),
      category(2, acme, 'Improved'),
      category(3, acme, 'Fixed'),
      category(4, globex, 'News'),
    ],
  };
}

/** The newest two are drafts, the one before is scheduled, all others are live. */
function entry(moment: Moment, id: number): Row<'changelog'> {
  const [title, category_id, intro, ...items] = pick(news, id - 1);
  const round = Math.floor((id - 1) / news.length);
  const status = id === 31 || id === 32 ? 'draft' : 'published';
  const created_at = ago(moment, (34 - id) * 11, 30);
  const isScheduled = id === 30;
  const published_at = isScheduled ? ago(moment, -7) : ago(moment, (34 - id) * 11, 10);
  const named = round === 0 ? title : `${title}, part ${round + 1}`;
  return {
    id,
    account_id: acme,
    title: named,
    slug: named.toLowerCase().replaceAll(/[^a-z\d]+/gu, '-'),
    version: id % 3 === 0 ? null : `2.${id}.0`,
    category_id,
    labels: [...pick(labelSets, id)],
    status,
    published_at: status === 'draft' ? null : published_at,
    created_at,
    updated_at: ago(moment, (34 - id) * 11, 10),
    content: [intro, ...(items.length > 0 ? ['', ...items.map((item) => `- ${item}`)] : [])].join('\n'),
    // What the sandbox would make of the content; it holds nothing that has to be escaped.
    content_html: [
      `<p>${intro}</p>`,
      ...(items.length > 0 ? ['<ul>', ...items.map((item) => `<li>${item}</li>`), '</ul>'] : []),
    ].join('\n'),
  };
}

const wishes: readonly (readonly [title: string, content: string, status: string, category: number, votes: number])[] =
  [
    ['Sort lists by company', 'I keep scrolling. Sorting by company would save me minutes each day.', 'planned', 2, 41],
    ['Dark mode for the portal', 'Our customers read it at night.', 'in_progress', 1, 96],
    ['Merge two contacts', 'We have many people twice, once with each address.', 'planned', 2, 88],
    ['Reply from the phone', 'A small app for replies is all I need.', 'under_review', 1, 73],
    ['Undo for closing a ticket', 'I close the wrong one about once a week.', 'shipped', 1, 64],
    ['Custom fields on tickets', 'For our order numbers.', 'in_progress', 1, 59],
    ['Weekly summary by email', 'How many tickets, how fast, how happy.', 'under_review', 3, 37],
    ['Polish translation', 'Half of our customers are in Poland.', 'under_review', 3, 12],
    ['Shorter call recordings', 'Cut out the silence at the beginning.', 'under_review', 4, 9],
    ['Tags with colours', 'So that I can see at a glance who is a partner.', 'planned', 2, 33],
    ['Keyboard shortcuts', 'For everything, please.', 'shipped', 1, 52],
    ['Import from a spreadsheet link', 'Without downloading it first.', 'under_review', 2, 21],
    ['Snooze a conversation', 'Until tomorrow morning.', 'in_progress', 1, 47],
    ['Two calendars per person', 'I have a work one and a shared one.', 'under_review', 4, 18],
    ['Public API for calls', 'We would like to show them in our own tool.', 'planned', 3, 29],
    ['Bigger attachments', 'Our drawings are 40 MB.', 'under_review', 1, 15],
    ['Vote from email', 'A link in the mail would do.', 'under_review', 3, 6],
    ['Fewer clicks to publish', 'Publishing an entry takes four.', 'shipped', 3, 27],
    ['Sounds for new chats', 'Different ones for web and phone.', 'under_review', 1, 4],
    ['Read-only members', 'For our accountant.', 'planned', 3, 55],
    ['Holiday hours', 'The assistant should know when we are away.', 'under_review', 4, 31],
    ['Search in attachments', 'Invoices, mostly.', 'under_review', 1, 2],
  ];

export function board(
  moment: Moment,
): Pick<Rows, 'feedback' | 'feedback_categories' | 'feedback_statuses' | 'roadmap_columns'> {
  const named = (names: readonly string[]) => names.map((name, at) => ({ id: at + 1, account_id: acme, name }));
  const slugged = (names: readonly string[]) =>
    named(names).map((row) => ({ ...row, slug: row.name.toLowerCase().replaceAll(' ', '_') }));
  const colors = ['#6366f1', '#f59e0b', '#10b981'];
  return {
    feedback: wishes.map(([title, content, status, category_id, vote_count], at) => ({
      id: at + 1,
      account_id: acme,
      title,
      content,
      status,
      category_id,
      vote_count,
      comments_count: (vote_count * 3) % 11,
      on_roadmap: status !== 'under_review',
      created_at: ago(moment, (wishes.length - at) * 9, 20),
      updated_at: ago(moment, (wishes.length - at) * 4, 20),
    })),
    feedback_categories: named(['Inbox', 'Contacts', 'Portal', 'Calls and meetings']),
    feedback_statuses: slugged(['Under review', 'Planned', 'In progress', 'Shipped']),
    roadmap_columns: slugged(['Planned', 'In progress', 'Shipped']).map((row, at) => ({
      ...row,
      color: pick(colors, at),
    })),
  };
}

/** What reacts to `POST /integrations/partner/events`. */
export function sequences(): Row<'sequences'>[] {
  const sequence = (id: number, name: string, trigger: string) => ({
    id,
    account_id: acme,
    name,
    trigger,
    is_active: true,
  });
  return [
    sequence(1, 'Thank you for your order', 'order_create'),
    sequence(2, 'Ask for a review', 'order_create'),
    sequence(3, 'Welcome', 'user_create'),
    sequence(4, 'First steps with your plan', 'user_subscriptions_create'),
    sequence(5, 'Trial ends soon', 'trial_ending'),
    { ...sequence(6, 'Win back', 'user_inactive'), is_active: false },
  ];
}
