import { expect } from 'vitest';
import type { Line } from './command-runner.ts';
import { account, call, contact, done, list, meta, wholeContact } from './samples.ts';

/** The account, contacts, lists and calls. */
const changedContact = {
  ...wholeContact,
  ...{ company: 'Example', last_name: '', phone: '+12025550123', metadata: { plan: 'pro', seats: '3' } },
};

export const people: readonly Line[] = [
  { type: 'account get', sends: [['GET /platform/account']], answers: [account] },
  {
    type: "branding update --primary-color '#102030' --from-name 'Acme Support' --social x=https://x.example.com/a --social y=https://y.example.com/b",
    sends: [
      [
        'PUT /platform/branding',
        {
          primary_color: '#102030',
          from_name: 'Acme Support',
          socials: { x: 'https://x.example.com/a', y: 'https://y.example.com/b' },
        },
      ],
    ],
    answers: [{ ok: true, updated: ['primary_color', 'from_name', 'socials'] }],
  },
  { type: 'contacts list', sends: [['GET /contacts']], answers: [{ contacts: [contact], meta }], prints: [contact] },
  {
    type: 'contact list --page 2 --per-page 10',
    sends: [['GET /contacts?page=2&per_page=10']],
    answers: [{ contacts: [contact], meta: { current_page: 2, last_page: 2, total: 11 } }],
    prints: [contact],
  },
  { type: 'contacts get 7', sends: [['GET /contacts/7']], answers: [{ contact: wholeContact }], prints: wholeContact },
  {
    type: "contacts update 7 --company Example --last-name '' --phone '(202) 555-0123' --metadata plan=pro --metadata seats=3",
    sends: [
      [
        'PATCH /contacts/7',
        { company: 'Example', last_name: '', phone: '(202) 555-0123', metadata: { plan: 'pro', seats: '3' } },
      ],
    ],
    answers: [{ contact: changedContact }],
    prints: changedContact,
  },
  {
    type: 'contacts create --name Ada --last-name L --email ada@example.com --phone +12025550101 --company Example',
    looks: 'GET /contacts?per_page=100',
    sends: [
      [
        'POST /contacts/create',
        { name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101', company: 'Example' },
      ],
    ],
    answers: [{ contacts: { contact_id: 7, name: 'Ada' } }],
    prints: { contact_id: 7, name: 'Ada' },
  },
  {
    type: 'contacts create --file -',
    looks: 'GET /contacts?per_page=100',
    stdin: '[{"name":"Ada","last_name":"L","email":"ada@example.com","phone":"+12025550101"}]',
    sends: [
      [
        'POST /contacts/create',
        { contacts: [{ name: 'Ada', last_name: 'L', email: 'ada@example.com', phone: '+12025550101' }] },
      ],
    ],
    answers: [{ contacts: [{ contact_id: 7, name: 'Ada' }] }],
    prints: [{ contact_id: 7, name: 'Ada' }],
  },
  {
    type: 'contacts sync - --tag imported --metadata source=fair',
    looks: 'GET /platform/account',
    stdin: 'E-mail,First Name,Surname,Mobile,Company,Tags\nada@example.com,Ada,L,+12025550101,Example,vip;uk\n',
    sends: [
      [
        'POST /platform/contacts/sync',
        {
          contacts: [
            {
              email: 'ada@example.com',
              name: 'Ada',
              last_name: 'L',
              phone: '+12025550101',
              company: 'Example',
              tags: ['vip', 'uk', 'imported'],
              metadata: { source: 'fair' },
            },
          ],
        },
      ],
    ],
    answers: [{ created: 1, updated: 0, errors: [] }],
    prints: expect.objectContaining({ rows: 1, created: 1, updated: 0, rejected: 0, unsent: 0, errors: [] }),
  },
  { type: 'lists list', sends: [['GET /contactslists/list']], answers: [{ data: [list] }], prints: [list] },
  {
    type: "lists create --name Leads --target-industry Retail --notes 'From the fair' --metadata year=2026",
    sends: [
      ['GET /contactslists/list'],
      [
        'POST /contactslists/create',
        { name: 'Leads', target_industry: 'Retail', notes: 'From the fair', metadata: { year: '2026' } },
      ],
      // The answer says nothing but an id: whether it is this list is seen in the lists.
      ['GET /contactslists/list'],
    ],
    answers: [{ data: [] }, { contact_list_id: 5 }, { data: [{ ...list, target_industry: 'Retail' }] }],
    prints: { contact_list_id: 5 },
  },
  {
    type: 'lists update 5 --name Warm',
    sends: [['POST /contactslists/5/update', { name: 'Warm' }]],
    answers: [{ contact_list_id: 5 }],
  },
  {
    type: 'lists update 5 --target-industry Toys',
    sends: [['GET /contactslists/list'], ['POST /contactslists/5/update', { name: 'Leads', target_industry: 'Toys' }]],
    answers: [{ data: [list] }, { contact_list_id: 5 }],
    prints: { contact_list_id: 5 },
  },
  { type: 'lists delete 5 --yes', sends: [['POST /contactslists/5/delete']], answers: [done] },
  {
    type: 'lists members 5',
    sends: [['GET /contactslists/5/get_contacts']],
    answers: [{ data: [{ contact_id: 7, name: 'Ada' }] }],
    prints: [{ contact_id: 7, name: 'Ada' }],
  },
  {
    type: 'lists remove 5 --contact 7 --contact 8',
    sends: [['POST /contactslists/5/remove_contacts', { contacts_ids: [7, 8] }]],
    answers: [done],
  },
  { type: 'calls list', sends: [['GET /calls']], answers: [{ calls: [call], meta }], prints: [call] },
];
