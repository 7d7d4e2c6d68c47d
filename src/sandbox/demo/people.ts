import type { Row, Rows } from '../store/records.ts';
import { acme, ago, globex, type Moment, pick } from './moment.ts';

const firstNames =
  'Ada Amir Ana Ben Carla Chen Chloe Dario Dev Elif Emma Farid Freya Gabriel Grace Hana Hugo Ines Ivan Jonas Julia Kenji Klara Leila Liam Lucia Marco Maya Mina Nadia Noah Olga Omar Paula Quinn Rosa Sami Tara Theo Uma Viktor Wren Yara Zoe'.split(
    ' ',
  );
const lastNames =
  'Abbott Ahmed Alvarez Bauer Becker Brooks Castro Cohen Costa Dubois Ek Fischer Fox Garcia Haddad Hansen Ito Jensen Kaya Kim Klein Kovac Lam Larsen Lopez Martin Meyer Moreau Nakamura Novak Okafor Olsen Patel Petrov Reyes Rossi Santos Sato Schmidt Silva Tanaka Vega Weber Wong Yilmaz Ziegler Zhang'.split(
    ' ',
  );
const companies = [
  ['Brightwater Supply', 'brightwater'],
  ['Cedar & Co', 'cedarco'],
  ['Fieldnote Studio', 'fieldnote'],
  ['Harbor Freight Tools', 'harbortools'],
  ['Juniper Clinics', 'juniper'],
  ['Kestrel Robotics', 'kestrel'],
  ['Lumen Bakery', 'lumenbakery'],
  ['Marlow Travel', 'marlow'],
  ['Northwind Cycling', 'northwind'],
  ['Orchard Homes', 'orchard'],
  ['Paperplane Schools', 'paperplane'],
  ['Quarry Fitness', 'quarry'],
  ['Redwood Legal', 'redwood'],
  ['Saltmarsh Foods', 'saltmarsh'],
] as const;
const areaCodes = ['212', '305', '312', '415', '503', '617'];
const countries = ['US', 'US', 'US', 'CA', 'US', 'GB', 'DE', 'US', 'FR', 'NL'];
const stages = ['new', 'new', 'contacted', 'qualified', 'customer', 'customer', 'customer', 'lost'];
const tagSets = [[], ['newsletter'], ['vip'], ['trial'], ['newsletter', 'beta'], ['partner'], [], ['webinar-march']];
const plans = ['free', 'starter', 'growth', 'scale'];

const contactCount = 264;
const globexCount = 12;

/** Acme's oldest first: the last one came in an hour ago, the first about two years before; then Globex's. */
export function contacts(moment: Moment): Row<'contacts'>[] {
  return Array.from({ length: contactCount + globexCount }, (_, at) => {
    const isAcme = at < contactCount;
    const [company, domain] = pick(companies, at * 5 + (at >> 3));
    const name = pick(firstNames, at * 7);
    const last_name = pick(lastNames, at * 11 + (at >> 4));
    const days = isAcme ? (contactCount - 1 - at) * 2.6 : (contactCount + globexCount - at) * 9;
    const plan = pick(plans, at * 3);
    return {
      contact_id: at + 1,
      account_id: isAcme ? acme : globex,
      name,
      last_name,
      email: `${name}.${last_name}@${domain}.test`.toLowerCase(),
      phone: contactPhone(at + 1),
      company: at % 9 === 4 ? '' : company,
      website: at % 3 === 0 ? `https://${domain}.test` : null,
      country: pick(countries, at),
      tags: [...pick(tagSets, at)],
      metadata: { ...(at % 4 < 2 && { plan }), ...(at % 4 === 0 && { seats: (at % 30) + 1 }) },
      lead_status: pick(stages, at * 3 + (at >> 2)),
      created_at: ago(moment, days, 60),
      updated_at: ago(moment, days * 0.6, 45),
      shadow: false,
    };
  });
}

export function lists(moment: Moment): Pick<Rows, 'lists' | 'list_members'> {
  const list = (
    contacts_list_id: number,
    days: number,
    about: Pick<Row<'lists'>, 'name' | 'target_industry' | 'notes'>,
  ) => ({
    contacts_list_id,
    account_id: contacts_list_id === 4 ? globex : acme,
    ...about,
    metadata: {},
    created_at: ago(moment, days),
  });
  const every = (contacts_list_id: number, step: number, from: number, count: number) =>
    Array.from({ length: count }, (_, at) => ({ contacts_list_id, contact_id: from + at * step }));
  return {
    lists: [
      list(1, 120, {
        name: 'Spring webinar',
        target_industry: 'Education',
        notes: 'Signed up for the webinar; call within a week.',
      }),
      list(2, 60, {
        name: 'Renewals this quarter',
        target_industry: 'Retail',
        notes: 'Contracts that end before the quarter does.',
      }),
      list(3, 21, { name: 'Beta testers', target_industry: 'Software', notes: 'Said yes to trying things early.' }),
      list(4, 30, { name: 'Newsletter', target_industry: 'Manufacturing', notes: 'Everyone who asked for it.' }),
    ],
    list_members: [...every(1, 6, 2, 38), ...every(2, 11, 5, 17), ...every(3, 17, 9, 9), ...every(4, 1, 266, 5)],
  };
}

export function calls(moment: Moment): Row<'calls'>[] {
  const graded = ['high', 'medium', 'low', 'none', 'medium', 'high'];
  const ended = ['customer_hung_up', 'completed', 'voicemail', 'no_answer', 'completed', 'completed'];
  return graded.map((interest_level, at) => {
    const seconds = pick([412, 187, 34, 0, 265, 731], at);
    const start_time = ago(moment, 13 - at * 2.1, 25);
    return {
      phone_call_id: at + 1,
      account_id: acme,
      contact_id: 40 + at * 13,
      from: '+14155550199',
      to: contactPhone(40 + at * 13),
      status: seconds === 0 ? 'no_answer' : 'completed',
      duration: seconds,
      interest_level,
      ended_reason: pick(ended, at),
      start_time,
      created_at: new Date(Date.parse(start_time) + (seconds + 2) * 1000).toISOString(),
    };
  });
}

const contactPhone = (id: number): string =>
  `+1${pick(areaCodes, Math.floor((id - 1) / 100))}55501${String((id - 1) % 100).padStart(2, '0')}`;

export function meetings(): Row<'meetings'>[] {
  const types = [
    [acme, 'Intro call', 15, 'phone', 'A quick call to see whether we fit.'],
    [acme, 'Product tour', 30, 'video', 'A tour of the product with your own questions.'],
    [acme, 'Onboarding session', 60, 'video', 'Your account set up, together.'],
    [acme, 'Office visit', 45, 'in person', 'Coffee, and whatever is on your mind.'],
    [globex, 'Sales call', 30, 'phone', 'Prices and volumes.'],
  ] as const;
  return types.map(([account_id, name, duration_minutes, location_type, description], at) => {
    const slug = name.toLowerCase().replaceAll(' ', '-');
    const url = `https://book.example.com/${account_id === acme ? 'acme' : 'globex'}/${slug}`;
    return { id: at + 1, account_id, name, slug, description, duration_minutes, location_type, url };
  });
}
