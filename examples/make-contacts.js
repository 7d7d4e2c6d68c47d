// Writes contacts.csv beside itself: 1,000 rows as another tool would export them, with everything that real exports
// have. Always the same bytes. Run: node examples/make-contacts.js
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const first =
  'Amara,Ben,Chiara,Dmitri,Elena,Farid,Grace,Hiro,Ines,Jonas,Kwame,Leila,Mateo,Noor,Olga,Priya,Quentin,Rosa';
const last =
  "Almeida,Björk,Castillo,D'Angelo,Eriksen,Fontaine,García,Haddad,Ivanova,Jansen,Kowalski,Lindqvist,Müller,Nakamura";
const more = 'Sanna,Tomás,Ursula,Victor,Wei,Ximena,Yusuf,Zoë,Astrid,Bruno,Carmen,Dilan';
const others = "O'Brien,Petrov,Quispe,Rossi,Schäfer,Tanaka,Usman,Vargas,Weiß,Xu,Yılmaz,Zając";
const companies = [
  'Northwind Sample',
  'Example & Sons, Ltd.',
  'Sample "Bright" Studio',
  'Harbor Example',
  'Contoso Sample GmbH',
  'Fabrikam Sample',
  'Placeholder, Inc.',
  '',
];
const tags = ['newsletter', 'webinar', 'trial', 'vip', 'partner', 'event 2026', 'beta'];
const plans = ['free', 'starter', 'scale', ''];
const sources = ['Website', 'Trade fair', 'Referral, existing customer', 'Webinar', ''];
const notes = [
  '',
  '',
  '',
  'Called twice, prefers mornings',
  'Asked for "enterprise" pricing\r\nfollow up in May',
  'Moved here from the old list;\nsee the archive',
];
/** In the sandbox's demo account already: these are completed, not created. */
const known = [
  'tara.weber@harbortools.test',
  'noah.olsen@redwood.test',
  'leila.klein@marlow.test',
  'hugo.dubois@fieldnote.test',
  'elif.ziegler@quarry.test',
  'ana.reyes@lumenbakery.test',
];
const badEmails = [
  '',
  'n/a',
  'name at example.com',
  'two@@example.com',
  'no-domain@',
  'spaces in@example.com',
  'a@example',
];
const badPhones = ['n/a', '555-0142', 'see notes', '0171 555 0142', '+1 415 555'];

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function makeContacts() {
  const random = randomFrom(20261120);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const firstNames = [...first.split(','), ...more.split(',')];
  const lastNames = [...last.split(','), ...others.split(',')];
  const digits = (count) => String(Math.floor(random() * 10 ** count)).padStart(count, '0');
  const ascii = (text) =>
    text
      .normalize('NFKD')
      .replace(/[^a-zA-Z]/g, '')
      .toLowerCase();
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

  const emails = [];
  let text =
    '\ufeffRecord ID,First Name,Surname,E-mail Address,Mobile Phone,Company Name,Tags,Lead Source,Notes,metadata.plan\r\n';
  for (let i = 1; i <= 1000; i++) {
    const name = pick(firstNames);
    const surname = pick(lastNames);
    let email = `${ascii(name)}.${ascii(surname)}${i}@${pick(['example.com', 'example.org', 'mail.example.net'])}`;
    if (i % 167 === 0) email = known[i / 167] ?? email;
    else if (i % 41 === 0) email = pick(badEmails);
    else if (i % 29 === 0) email = pick(emails).toUpperCase();
    else if (i % 23 === 0) email = ` ${email} `;
    emails.push(email.trim() || 'somebody@example.com');

    const phone =
      i % 37 === 0
        ? pick(badPhones)
        : pick([
            `+1415555${digits(4)}`,
            `(212) 555-${digits(4)}`,
            `+44 20 7946 0${digits(3)}`,
            `+49 30 9018${digits(4)}`,
            '',
          ]);
    const own = i === 500 ? Array.from({ length: 11 }, (_, n) => `list ${n + 1}`) : [pick(tags), pick(tags), ''];
    const cells = [
      String(100_000 + i),
      name,
      surname,
      email,
      phone,
      pick(companies),
      own.filter(Boolean).join('; '),
      pick(sources),
      pick(notes),
      pick(plans),
    ];
    // A company with a comma that somebody typed into the file by hand.
    const line = cells.map(cell).join(',') + (i === 733 ? ',GmbH' : '');
    text += `${line}\r\n`;
    if (i === 400) text += '\r\n';
  }
  return `${text},,,,,,,,,\r\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL('contacts.csv', import.meta.url), makeContacts());
}
