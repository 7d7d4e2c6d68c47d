import { plain } from './columns.ts';

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

/**
 * Common names of each field, the most telling first: of several columns that fit, the one named earliest here is
 * taken, and the next where its cell is blank. Of phones: mobile, work, home; of mails: work first.
 */
const names: readonly (readonly [field: Field, words: string])[] = [
  [
    'email',
    `email emailaddress emails emailid mail mailaddress primaryemail primaryemailaddress
    emailadresse emailadres mailadresse courriel adressemail adresseemail adresseélectronique adressedemessagerie
    correo correoelectrónico direccióndecorreoelectrónico indirizzoemail posta postaelettronica endereçodeemail
    correioeletrónico correioeletrônico epost eposta epostadress epostadresse adresemail
    mejl mejladress mailadress emailadress sähköposti sähköpostiosoite emailováadresa emailadresa pocztaelektroniczna adrespocztyelektronicznej
    adressemail adressecourriel indirizzomail indirizzodipostaelettronica endereçoeletrônico
    direccióndecorreo direccióncorreoelectrónico epostaadresi emailadresi mailadresi электроннаяпочта эл.почта メールアドレス メール 電子郵件 电子邮件 邮箱 이메일
    workemail workemailaddress workmail businessemail businessemailaddress companyemail officeemail emailwork
    emailbusiness emailoffice professionalemail emailprofessionnel emailpro
    personalemail personalemailaddress privateemail homeemail emailpersonal emailhome emailprivate privatemail
    secondaryemail alternateemail alternativeemail additionalemail otheremail emailother subscriber`,
  ],
  [
    'name',
    `firstname givenname forename fname first givennames firstnames namefirst vorname rufname prénom nombre nome
    voornaam förnamn fornavn etunimi imię jméno имя adı isim roepnaam tilltalsnamn křestníjméno primernombre nombredepila primeironome 名 名字 이름`,
  ],
  [
    'last_name',
    `lastname surname familyname lname last lastnames surnames secondname namelast nachname familienname
    nomdefamille nom apellido apellidos cognome sobrenome achternaam efternamn etternavn efternavn sukunimi nazwisko
    příjmení фамилия soyad soyadı soyisim primerapellido últimonome 姓 姓氏 성`,
  ],
  [
    'phone',
    `phone phonenumber phonenumbers phoneno phones mobile mobilephone mobilenumber mobilephonenumber mobileno mobiletelephone cell
    cellphone cellphonenumber cellnumber phonemobile phonecell mobilework workmobile telephone telephonenumber tel telno
    primaryphone primaryphonenumber phonecontact contactnumber contactno telefon telefonnummer rufnummer handy handynummer
    mobil mobiltelefon mobilnummer mobiltelefonnummer téléphone téléphonemobile numérodetéléphone télmobile portable
    téléphoneportable teléfono teléfonomóvil móvil celular telefone telemóvel telefono cellulare telefoonnummer telefoon
    mobiel mobielnummer mobieletelefoon mobieltelefoonnummer telefoonmobiel gsm gsmnummer telefoonnr
    telefonmobil mobilfunk mobilfunknummer mobilnr handynr telnr telefonnr tlf tlfnr tlfnummer mobiltlf telefonkomórkowy
    numertelefonu numertelefonukomórkowego nrtelefonu komórka puhelin puhelinnumero matkapuhelin matkapuhelinnumero
    mobilnítelefon mobilníčíslo telefonníčíslo telefonnumarası ceptelefonu gsmno телефон numéromobile numérodemobile
    numérodeportable telmobile telportable numerotelefono numeroditelefono numerocellulare numerodicellulare
    telefonocellulare telefonomobile telefonecelular telefonemóvel númerodetelefone númerodecelular númerodetelemóvel
    teléfonocelular númerodeteléfono númeromóvil 電話番号 电话 手机 전화번호 smsphonenumber smsphone smsnumber sms whatsapp whatsappnumber
    whatsappphone
    workphone workphonenumber worktelephone businessphone businessphonenumber businesstelephone companyphone companymainphone
    officephone officenumber phonework phonebusiness phoneoffice téléphonebureau téléphoneprofessionnel
    telefongeschäftlich telefonarbeit teléfonodeltrabajo teléfonotrabajo telefonedotrabalho telefonolavoro telefonoufficio telefoneprofissional
    telefonecomercial telefoonwerk telefonbüro telefondienstlich telefonsłużbowy telefonarbete
    homephone homephonenumber hometelephone personalphone privatephone phonehome phonepersonal téléphonedomicile
    telefonprivat telefoonprivé telefonocasa teléfonocasa teléfonoparticular telefoneresidencial téléphonepersonnel
    téléphonefixe teléfonofijo telefonefixo telefonstacjonarny festnetz
    secondaryphone alternatephone otherphone phoneother`,
  ],
  [
    'company',
    `company companyname organization organisation organizationname organisationname org orgname
    organization1name organisation1name account accountname business businessname employer
    primarycompany primaryassociatedcompany associatedcompany associatedcompanyname companyorganization
    firma firmenname unternehmen unternehmensname société entreprise empresa organización organização azienda società bedrijf bedrijfsnaam företag firmanavn
    yritys yrityksennimi organisaatio virksomhed virksomhedsnavn företagsnamn bedrift bedriftsnavn selskab selskap organisasjon
    organisatie organisatienaam nazwafirmy przedsiębiorstwo organizacja společnost názevfirmy názevspolečnosti organizace
    nomentreprise nomdelentreprise nomdelasociété raisonsociale ragionesociale nomeazienda ditta organizzazione
    nomedaempresa nomeempresa razãosocial nombreempresa nombredelaempresa razónsocial şirket şirketadı firmaadı компания организация 会社名 会社 公司 회사`,
  ],
  [
    'website',
    `website websiteurl web webpage homepage site siteurl url companywebsite website1value website1
    webseite webadresse siteweb siteinternet sitoweb sitioweb páginaweb stronawww stronainternetowa hjemmeside nettside
    webbplats hemsida verkkosivu webovéstránky`,
  ],
  [
    'country',
    `country countryname countryregion mailingcountry businesscountry businesscountryregion
    homecountry homecountryregion address1country land pays país paese nazione země ülke maa`,
  ],
  [
    'tags',
    `tags tag taglist labels label categories keywords groupmembership kategorien schlagwörter schlagworte stichwörter stichworte étiquettes etiquetas
    etichette etiketten etiketter etiketler tagi štítky`,
  ],
  ['metadata', 'metadata'],
];

/** Names without a word that says which, and full ones. */
const wholeNames = `name naam namn navn nimi fullname completename namefull volledigenaam vollständigername vorundnachname
  vornameundnachname vornamenachname nomcomplet nometprénom prénometnom nombrecompleto nombreyapellidos nomecompleto
  nomeecognome nominativo nomeesobrenome fuldenavn fuldtnavn fulltnavn fullständigtnamn kokonimi celéjméno jménoapříjmení
  imięinazwisko adsoyad adısoyadı isimsoyisim 氏名 姓名`;

/** Of first and last name together: after the names of a first name, and only where a row has no last name. */
const fullNames = `${wholeNames}
  displayname contactperson contact kontakt kontaktperson kontaktname ansprechpartner contactpersoon
  personnedecontact personadecontacto osobakontaktowa kontaktníosoba yhteyshenkilö contacto contatto contato`;

/** Words before a name that say whose it is. */
const prefixes =
  `person lead user contact customer client subscriber member recipient guest attendee invitee registrant buyer
  purchaser donor defaultaddress billing billto deal`.split(/\s+/u);

/** What a prefix makes of a name: a login, the title of a deal. */
const notNames = new Set(['username', 'dealname', 'dealfirst', 'deallast', 'dealtags', 'deallabel', 'deallabels']);

/** Signs that stand for a word. */
const signs: readonly (readonly [sign: RegExp, word: string])[] = [
  [/[\u260E\u260F\u2706\u{1F4DE}\u{1F4DF}\u{1F4F1}\u{1F4F2}]/gu, ' phone '],
  [/[\u2709\u{1F4E7}-\u{1F4E9}]/gu, ' email '],
];

export type Match = {
  readonly field: Field;
  /** Smaller is more telling. */
  readonly rank: number;
  readonly isFullName: boolean;
};

const known = new Map<string, Match>();
for (const [field, words] of names) addNames(field, words, 0);
addNames('name', fullNames, 1000);

function addNames(field: Field, words: string, from: number): void {
  for (const [index, word] of words.split(/\s+/u).entries()) {
    known.set(plain(word), { field, rank: from + index, isFullName: from > 0 });
  }
}

/** A name without a word that says which, or a full one: beside a first name it has the last one. */
export const isBareName = (header: string): boolean => bareNames.has(plain(header));

const bareNames = new Set(wholeNames.split(/\s+/u).map(plain));

/** Turkish for a name; in other files it is an advertisement. */
const turkishName = 'ad';

/** What a header says its column holds, among the others. Unprefixed names come before prefixed ones. */
export function fieldOf(header: string, headers: readonly string[]): Match | undefined {
  if (plain(header) === turkishName) {
    return headers.some((other) => plain(other).startsWith('soyad')) ? known.get('vorname') : undefined;
  }
  let text = header;
  for (const [sign, word] of signs) text = text.replaceAll(sign, word);
  // A header may say one thing twice, by a sign and by its word.
  const key = plain(text).replace(/^(phone|email)\1/u, '$1');
  const match = known.get(key) ?? numbered(key);
  if (match) return match;
  if (notNames.has(key)) return undefined;
  for (const prefix of prefixes) {
    if (!key.startsWith(prefix)) continue;
    const rest = key.slice(prefix.length);
    const behind = known.get(rest) ?? numbered(rest);
    if (behind) return { ...behind, rank: behind.rank + 10_000 };
  }
  return undefined;
}

/** `E-mail 1 - Value` is right behind the name without a number; a second is behind all that are no second. */
function numbered(key: string): Match | undefined {
  const parts = /^(\p{L}+)([1-9])(?:value|address|number)?$/u.exec(key);
  const base = known.get(parts?.[1] ?? '');
  if (base?.field !== 'email' && base?.field !== 'phone') return undefined;
  const number = Number(parts?.[2]);
  return { ...base, rank: base.rank + (number === 1 ? 0.5 : 500 * number) };
}

/** The column that most tells of a field; undefined where none does. */
export function likeField(headers: readonly string[], field: Field): number | undefined {
  const found = headers.flatMap((header, at) => {
    const match = fieldOf(header, headers);
    return match?.field === field ? [{ at, rank: match.rank }] : [];
  });
  return found.sort((one, other) => one.rank - other.rank)[0]?.at;
}
