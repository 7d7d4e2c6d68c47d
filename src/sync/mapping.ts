import { Failure } from '../errors.ts';

/** A field of a contact that a column can fill. Which of them an operation takes, its `Shape` says. */
export type Field =
  | 'email'
  | 'name'
  | 'last_name'
  | 'phone'
  | 'company'
  | 'website'
  | 'country'
  | 'tags'
  /** A whole object as JSON, as `svc contacts export` writes it. */
  | 'metadata';

export type Target = Field | `metadata.${string}`;

export const isOwnData = (to: string): to is `metadata.${string}` => to.startsWith('metadata.');

/** What a contact of the operation looks like: syncContacts knows tags, create_sync_contacts websites and countries. */
export type Shape = { readonly fields: readonly Field[]; readonly required: readonly Field[] };

export const syncShape: Shape = {
  fields: ['email', 'name', 'last_name', 'phone', 'company', 'tags', 'metadata'],
  required: ['email'],
};

export const listShape: Shape = {
  fields: ['email', 'name', 'last_name', 'phone', 'company', 'website', 'country', 'metadata'],
  required: ['email', 'name'],
};

export type Column = { readonly index: number; readonly header: string; readonly to: Target };

export type Mapping = {
  /** How many cells a row has. */
  readonly width: number;
  /** In the order of the file. */
  readonly columns: readonly Column[];
  /** Columns that are not sent, as people would name them. */
  readonly unused: readonly string[];
};

/**
 * Common names of each field, the most telling first: of several columns that fit, the one named earliest here is
 * taken. Written as `plain` leaves them: small letters and digits only.
 */
const names: Readonly<Record<Field, string>> = {
  email: `email emailaddress emails emailid email1value email1 emailaddress1 email1address mail mailaddress
    primaryemail primaryemailaddress contactemail contactemailaddress customeremail useremail subscriberemail
    memberemail personemail leademail workemail workemailaddress businessemail companyemail personalemail homeemail
    billingemail emailwork emailhome emailadresse mailadresse courriel adressemail adresseemail adresseélectronique
    correo correoelectrónico correoelectronico epost eposta`,
  name: `firstname givenname forename fname first givennames firstnames contactfirstname customerfirstname
    billingfirstname leadfirstname vorname prénom prenom nombre nome voornaam
    name fullname contactname customername displayname contact`,
  last_name: `lastname surname familyname lname last lastnames surnames secondname contactlastname customerlastname
    billinglastname leadlastname nachname familienname nomdefamille nom apellido apellidos cognome achternaam`,
  phone: `phone phonenumber phoneno mobile mobilephone mobilenumber mobilephonenumber mobileno cell cellphone
    cellphonenumber cellnumber telephone telephonenumber tel telno phone1value phone1 phonenumber1 primaryphone
    primaryphonenumber contactphone contactphonenumber contactnumber customerphone workphone workphonenumber
    businessphone businessphonenumber companyphone homephone phonemobile phonework phonehome smsphonenumber smsphone
    sms whatsapp whatsappnumber telefon telefonnummer handy handynummer mobil mobiltelefon téléphone portable
    teléfono telefono móvil celular`,
  company: `company companyname organization organisation organizationname organisationname org orgname
    organization1name organisation1name account accountname business businessname employer contactcompany
    customercompany associatedcompany primaryassociatedcompany associatedcompanyname primarycompany
    companyorganization firma firmenname unternehmen société entreprise empresa azienda bedrijf`,
  website: `website websiteurl web webpage homepage site siteurl url companywebsite website1value website1`,
  country: `country countryname countryregion mailingcountry billingcountry businesscountry businesscountryregion
    homecountry homecountryregion address1country land pays país pais`,
  tags: `tags tag taglist labels label contacttags categories keywords groupmembership kategorien schlagwörter
    étiquettes etiquetas`,
  metadata: 'metadata',
};

const known = new Map<string, { readonly field: Field; readonly rank: number }>();
for (const [field, words] of Object.entries(names) as [Field, string][]) {
  for (const [rank, word] of words.split(/\s+/u).entries()) known.set(word, { field, rank });
}

/** A header without what differs between exports: case, blanks, hyphens, underscores. */
const plain = (header: string): string =>
  header
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** Columns that svc itself adds to rejects, so that a fixed file can be synced again as it is. */
const isOwn = (header: string): boolean => /^svc_/iu.test(header.trim());

/**
 * Which column fills which field. `wishes` are the texts of `--map`, "HEADER=FIELD" or "#N=FIELD" for the Nth column;
 * they win over what the header suggests.
 */
export function mapHeaders(headers: readonly string[], wishes: readonly string[], shape: Shape): Mapping {
  const targets = new Map<number, Target | 'ignore'>();
  const taken = new Set<Target>();
  for (const wish of wishes) {
    const { index, to } = readWish(wish, headers, shape);
    if (targets.has(index)) throw new Failure('usage', `--map names the column "${headers[index]}" twice.`);
    // Several columns may add tags; of anything else a contact has one.
    if (taken.has(to as Target) && to !== 'tags') throw new Failure('usage', `--map gives ${to} two columns.`);
    targets.set(index, to);
    if (to !== 'ignore') taken.add(to);
  }

  const ranked: { readonly index: number; readonly field: Field; readonly rank: number }[] = [];
  for (const [index, header] of headers.entries()) {
    if (targets.has(index)) continue;
    const key = /^\s*metadata\.(.*\S)/iu.exec(header)?.[1];
    // A key of that name would be lost in any JavaScript that reads it.
    if (key !== undefined && key !== '__proto__' && !taken.has(`metadata.${key}`)) {
      targets.set(index, `metadata.${key}`);
      taken.add(`metadata.${key}`);
    }
    const match = known.get(plain(header));
    if (!header.includes('metadata.') && match && shape.fields.includes(match.field)) ranked.push({ index, ...match });
  }
  for (const { index, field } of ranked.sort((a, b) => a.rank - b.rank || a.index - b.index)) {
    if (taken.has(field)) continue;
    targets.set(index, field);
    taken.add(field);
  }

  for (const field of shape.required) if (!taken.has(field)) throw noColumn(field, headers);
  const columns: Column[] = [];
  const unused: string[] = [];
  for (const [index, header] of headers.entries()) {
    const to = targets.get(index);
    if (to === undefined) {
      if (!isOwn(header) && header.trim() !== '') unused.push(header.trim());
    } else if (to !== 'ignore') columns.push({ index, header: header.trim(), to });
  }
  return { width: headers.length, columns, unused };
}

function readWish(
  wish: string,
  headers: readonly string[],
  shape: Shape,
): { readonly index: number; readonly to: Target | 'ignore' } {
  const at = wish.lastIndexOf('='); // a header may hold "=", a field never does
  if (at < 1) throw new Failure('usage', `--map takes "HEADER=FIELD", not "${wish}".`, { hint: offered(shape) });
  const wanted = wish.slice(0, at).trim();
  const to = wish.slice(at + 1).trim();
  const isTarget = to === 'ignore' || /^metadata\../u.test(to) || shape.fields.includes(to as Field);
  if (!isTarget) throw new Failure('usage', `--map "${wish}": there is no field "${to}".`, { hint: offered(shape) });
  const position = /^#(\d+)$/u.exec(wanted)?.[1];
  const ways = [
    (header: string) => header.trim() === wanted,
    (header: string) => plain(header) !== '' && plain(header) === plain(wanted),
    (_: string, index: number) => index + 1 === Number(position),
  ];
  const index = ways.map((way) => headers.findIndex(way)).find((found) => found >= 0);
  if (index === undefined) {
    throw new Failure('usage', `--map "${wish}": the file has no column "${wanted}".`, { hint: listed(headers) });
  }
  return { index, to: to as Target | 'ignore' };
}

const noColumn = (field: Field, headers: readonly string[]): Failure =>
  new Failure('usage', `No column holds the ${field === 'email' ? 'email address' : field} of a contact.`, {
    hint: `${listed(headers)} Name one: --map "COLUMN=${field}"`,
  });

const offered = (shape: Shape): string => `Fields: ${shape.fields.join(', ')}, metadata.KEY, or ignore.`;

const listed = (headers: readonly string[]): string => {
  const shown = headers.slice(0, 20).map((header) => header.trim() || '(no name)');
  return `Columns: ${shown.join(', ')}${headers.length > 20 ? ', …' : ''}.`;
};
