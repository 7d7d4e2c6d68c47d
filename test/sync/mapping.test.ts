import { describe, expect, test } from 'vitest';
import { listShape, mapHeaders, readWishes, syncShape } from '../../src/sync/mapping.ts';

const map = (header: string, wishes: string[] = [], shape = syncShape) => {
  const { columns, unused } = mapHeaders(header.split('|'), readWishes(wishes, shape), shape);
  return {
    ...Object.fromEntries(columns.map(({ header, to }) => [to, header])),
    unused: unused.map(({ header }) => header),
  };
};

/** The headers that fill a field, in the order in which they are asked. */
const ranked = (header: string, field: string) => {
  const { columns, fallbacks } = mapHeaders(header.split('|'), [], syncShape);
  return [...columns, ...fallbacks].filter(({ to }) => to === field).map(({ header }) => header);
};

describe('headers are understood as people write them', () => {
  test.each<[header: string, expected: Record<string, unknown>]>([
    [
      'E-mail|First Name|Surname|Mobile|Company|Tags',
      { email: 'E-mail', name: 'First Name', last_name: 'Surname', phone: 'Mobile', company: 'Company', tags: 'Tags' },
    ],
    ['EMAIL_ADDRESS|FNAME|LNAME', { email: 'EMAIL_ADDRESS', name: 'FNAME', last_name: 'LNAME' }],
    ['email|name|last_name|phone', { email: 'email', name: 'name', last_name: 'last_name', phone: 'phone' }],
    ['Vorname|Nachname|E-Mail-Adresse|Firma', { email: 'E-Mail-Adresse', name: 'Vorname', company: 'Firma' }],
    ['Prénom|Nom|Courriel', { email: 'Courriel', name: 'Prénom', last_name: 'Nom' }],
    ['Name|Given Name|Family Name|E-mail 1 - Value', { name: 'Given Name', email: 'E-mail 1 - Value', unused: [] }],
    ['Full Name|Email', { name: 'Full Name' }],
    ['Business Phone|Mobile Phone|E-mail Address', { phone: 'Mobile Phone', unused: [] }],
    [
      'email|metadata.plan|Metadata.Seats used',
      { 'metadata.plan': 'metadata.plan', 'metadata.Seats used': 'Metadata.Seats used' },
    ],
    ['email|metadata.|metadata.constructor', { 'metadata.constructor': 'metadata.constructor', unused: ['metadata.'] }],
    ['email|Notes|svc_line|svc_error|', { unused: ['Notes'] }],
    ['email|Email|e-mail', { email: 'email', unused: [] }],
    [
      'Person - Name|Person - Email - Work|Person - Phone|Organization - Name',
      {
        name: 'Person - Name',
        email: 'Person - Email - Work',
        phone: 'Person - Phone',
        company: 'Organization - Name',
      },
    ],
    ['Lead Name|Email|User Phone', { name: 'Lead Name', phone: 'User Phone' }],
    ['Email|Default Address Company|Default Address Phone', { company: 'Default Address Company' }],
    ['user_login|user_email|User Name', { email: 'user_email', unused: ['user_login', 'User Name'] }],
    ['Email|☎ Contact', { phone: '☎ Contact' }],
    ['📧 Email|Contact', { email: '📧 Email', name: 'Contact' }],
    ['Vorname|Name|E-Mail', { name: 'Vorname', last_name: 'Name', email: 'E-Mail', unused: [] }],
    ['Name|Vorname|E-Mail', { name: 'Vorname', last_name: 'Name', unused: [] }],
    ['Voornaam|Naam|E-mail', { name: 'Voornaam', last_name: 'Naam', unused: [] }],
    ['First Name|Name|Last Name|Email', { name: 'First Name', last_name: 'Last Name', unused: [] }],
    ['Ad|Soyad|Şirket|E-posta', { name: 'Ad', last_name: 'Soyad', company: 'Şirket', email: 'E-posta', unused: [] }],
    ['Email|Name|Ad', { name: 'Name', unused: ['Ad'] }],
    ['Naam|E-mail', { name: 'Naam' }],
    [
      'Associated Company|Primary Company|Email',
      { company: 'Primary Company', unused: [] }, // the first lists all of them: `Corp Ltda; Other`
    ],
    ['Voornaam|Achternaam|E-mailadres|Mobiel nummer|Organisatie', { phone: 'Mobiel nummer', company: 'Organisatie' }],
    [
      'Imię|Nazwisko|Adres e-mail|Telefon komórkowy|Nazwa firmy',
      { name: 'Imię', last_name: 'Nazwisko', phone: 'Telefon komórkowy', company: 'Nazwa firmy', unused: [] },
    ],
    [
      'Fornavn|Efternavn|E-mailadresse|Tlf. nr.|Virksomhed',
      { name: 'Fornavn', last_name: 'Efternavn', phone: 'Tlf. nr.', company: 'Virksomhed', unused: [] },
    ],
    ['Kontakt|E-Mail|Mobilfunk', { name: 'Kontakt', phone: 'Mobilfunk', unused: [] }],
    ['Förnamn|Efternamn|Mejladress|Mobilnr|Företagsnamn', { company: 'Företagsnamn', phone: 'Mobilnr', unused: [] }],
    ['Fornavn|Etternavn|E-post|Mobil|Bedrift', { company: 'Bedrift', phone: 'Mobil', unused: [] }],
    [
      'Etunimi|Sukunimi|Sähköposti|Matkapuhelin|Yrityksen nimi',
      { email: 'Sähköposti', phone: 'Matkapuhelin', company: 'Yrityksen nimi', unused: [] },
    ],
    ['Jméno|Příjmení|E-mailová adresa|Mobilní telefon|Společnost', { company: 'Společnost', unused: [] }],
    ['Prénom|Nom|Adresse mail|Numéro de portable|Raison sociale', { company: 'Raison sociale', unused: [] }],
    ['Nome|Cognome|Indirizzo e-mail|Numero di telefono|Ragione sociale', { name: 'Nome', unused: [] }],
    ['Nome|Sobrenome|E-mail|Telefone celular|Razão social', { phone: 'Telefone celular', unused: [] }],
    ['Nombre|Apellidos|Correo electrónico|Teléfono celular|Razón social', { last_name: 'Apellidos', unused: [] }],
    ['Ad|Soyad|E-posta adresi|Cep telefonu|Firma adı', { email: 'E-posta adresi', name: 'Ad', unused: [] }],
    ['Email|Imię i nazwisko', { name: 'Imię i nazwisko', unused: [] }],
    // In Brazil a postcode and a nickname; in Czech a region.
    ['Email|CEP|Apelido|Kraj', { unused: ['CEP', 'Apelido', 'Kraj'] }],
    ['E-Mail|Unternehmensname|Schlagworte', { company: 'Unternehmensname', tags: 'Schlagworte', unused: [] }],
    [
      'Nombre|Apellidos|Organización|Teléfono del trabajo|Móvil|Dirección de correo electrónico',
      { company: 'Organización', phone: 'Móvil', email: 'Dirección de correo electrónico', unused: [] },
    ],
    ['Correio eletrónico|Nome|Phone Numbers', { email: 'Correio eletrónico', name: 'Nome', phone: 'Phone Numbers' }],
    ['Email|Assigned Agent Email|Account owner', { unused: ['Assigned Agent Email', 'Account owner'] }],
  ])('%s', (header, expected) => {
    expect(map(header)).toMatchObject(expected);
  });

  test('a list import takes websites and countries, and no tags', () => {
    expect(map('email|name|URL|Country|Tags', [], listShape)).toEqual({
      email: 'email',
      name: 'name',
      website: 'URL',
      country: 'Country',
      unused: ['Tags'],
    });
  });
});

describe('of several columns for one field', () => {
  test.each([
    ['Home Phone|Business Phone|Mobile Phone', 'phone', 'Mobile Phone, Business Phone, Home Phone'],
    ['Billing Phone|Customer Phone|Phone', 'phone', 'Phone, Billing Phone, Customer Phone'],
    ['email_home|email_other|email_work', 'email', 'email_work, email_home, email_other'],
    ['E-mail 2 Address|E-mail Address', 'email', 'E-mail Address, E-mail 2 Address'],
    ['Email|Phone 2 - Value|Phone 1 - Value|Home Phone 2', 'phone', 'Phone 1 - Value, Phone 2 - Value, Home Phone 2'],
    ['Email|Name|First Name', 'last_name', 'Name'],
    ['Email|Labels|Tags', 'tags', 'Tags'],
  ])('%s: %s is %s', (header, field, expected) => {
    expect(ranked(`${header}${header.includes('mail') ? '' : '|Email'}`, field).join(', ')).toBe(expected);
  });

  test('--map leaves no others', () => {
    const { fallbacks } = mapHeaders(['Email', 'Phone', 'Mobile'], readWishes(['Phone=phone'], syncShape), syncShape);
    expect(fallbacks).toEqual([]);
  });
});

describe('--map', () => {
  test('wins over what a header suggests', () => {
    expect(map('Work mail|Email|Plan', ['Work mail=email', 'Plan=metadata.plan'])).toEqual({
      email: 'Work mail',
      'metadata.plan': 'Plan',
      unused: ['Email'],
    });
  });

  test('names a column by its position where its header is empty or doubled', () => {
    expect(map('mail|mail|', ['#2=email', '#3=company'])).toEqual({ email: 'mail', company: '', unused: ['mail'] });
  });

  test.each([
    ['Id|Email|Name|Email', 'Email=ignore'],
    ['Id|Email|Name|E-Mail', 'email=metadata.mail'],
  ])('refuses a name that two columns have: %s, %s', (headers, wish) => {
    const expected = { message: expect.stringContaining('2 columns'), hint: expect.stringContaining('"#2=') };
    expect(() => map(headers, [wish])).toThrow(expect.objectContaining(expected));
    expect(map('Id|Email|Name|E-Mail', ['E-Mail=ignore'])).toMatchObject({ email: 'Email' });
  });

  test('takes a header that holds "=", and forgives case and blanks', () => {
    expect(map('a=b|e MAIL', ['a=b=name', 'E-Mail=email'])).toMatchObject({ name: 'a=b', email: 'e MAIL' });
  });

  test('sets a column aside without a note', () => {
    expect(map('email|Tags|Notes', ['Tags=ignore', 'Notes=ignore'])).toEqual({ email: 'email', unused: [] });
  });

  test('lets several columns add tags', () => {
    const wishes = readWishes(['Group=tags', 'Tags=tags'], syncShape);
    const { columns } = mapHeaders(['email', 'Group', 'Tags'], wishes, syncShape);
    expect(columns.map(({ to }) => to)).toEqual(['email', 'tags', 'tags']);
  });

  test.each([
    ['x', '--map takes "HEADER=FIELD"'],
    ['Nope=email', 'the file has no column "Nope"'],
    ['Email=lead_status', 'there is no field "lead_status"'],
    ['Email=metadata.', 'there is no field "metadata."'],
    ['#9=email', 'the file has no column "#9"'],
  ])('refuses %j', (wish, message) => {
    expect(() => map('Email|Name', [wish])).toThrow(message);
  });

  test('refuses two columns for one field, and one column for two', () => {
    expect(() => map('a|b', ['a=email', 'b=email'])).toThrow('--map gives email two columns.');
    expect(() => map('a|b', ['a=email', 'a=name'])).toThrow('--map names the column "a" twice.');
  });
});

test('a file without a column of emails is refused with the columns that it has', () => {
  const attempt = () => map('Name|Phone');
  expect(attempt).toThrow('No column holds the email address of a contact.');
  expect(attempt).toThrow(expect.objectContaining({ hint: expect.stringContaining('Columns: Name, Phone.') }));
});

test.each(['{"email":"ada@fieldnote.test",name:"Ada"}', '[{"email":"ada@fieldnote.test"}', '['])(
  'a file that begins with %s is told from CSV',
  (first) => {
    const hint = { hint: expect.stringContaining('It looks like JSON, and this command reads CSV.') };
    expect(() => map(first)).toThrow(expect.objectContaining(hint));
    expect(() => map(first, ['mail=email'])).toThrow(expect.objectContaining(hint));
  },
);
