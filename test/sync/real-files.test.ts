import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/context.ts';
import { hexDigestOf } from '../../src/text/digest.ts';
import { asksAccount, type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc } from '../svc.ts';

const world = () => sandboxWorld({ seed: 'empty', rateLimit: 'off' });

async function sync(world: SandboxWorld, text: string, ...flags: string[]) {
  const file = join(world.folder, 'contacts.csv');
  await writeFile(file, text);
  return svc(world, ['contacts', 'sync', file, '--json', ...flags]);
}

type Stored = Readonly<Record<'email' | 'name' | 'last_name' | 'phone', string>> & { readonly tags: string[] };

const stored = async (world: SandboxWorld) =>
  ((await world.control('GET', 'state')) as { contacts: Stored[] }).contacts;

const report = ({ stdout }: { stdout: string }) => JSON.parse(stdout);

/** The contacts as they would be sent, and what was said. */
async function dry(text: string, ...flags: string[]) {
  const ran = await sync(world(), text, '--dry-run', ...flags);
  return { ...ran, sample: report(ran).sample as Record<string, unknown>[] };
}

const linkedIn =
  'Notes:\n"When exporting your connection data, you may notice\nthat some addresses are missing."\n\n' +
  'First Name,Last Name,URL,Email Address\nAda,Lovelace,https://example.com/ada,ada@example.com\n,,,bad\n';

describe('above the header', () => {
  test('remarks are passed over and named, and lines are counted with them', async () => {
    const ran = await dry(linkedIn);
    expect(ran.sample).toEqual([{ email: 'ada@example.com', name: 'Ada', last_name: 'Lovelace' }]);
    expect(report(ran).errors).toMatchObject([{ line: 7, email: 'bad' }]);
    expect(ran.stderr).toContain('The header is line 5. Not read above it: "Notes:", "When exporting your');
  });

  test('--skip-lines says where it is, and the rejects can be synced with the same flags', async () => {
    const there = world();
    const rejects = join(there.folder, 'rejects.csv');
    const ran = await sync(there, linkedIn, '--skip-lines', '4', '--rejects', rejects);
    expect(report(ran)).toMatchObject({ created: 1, rejected: 1 });
    expect(ran.stderr).not.toContain('Not read above it');
    const again = await sync(
      there,
      (await readFile(rejects, 'utf8')).replace('bad', 'c@example.com'),
      '--skip-lines',
      '4',
    );
    expect(report(again)).toMatchObject({ created: 1, rejected: 0 });
  });

  test('--skip-lines beyond the end is refused', async () => {
    const ran = await sync(world(), 'email\na@example.com\n', '--skip-lines', '9');
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('There is nothing below line 9.') });
  });
});

describe('a file without a header', () => {
  const text = 'Ann,ann@example.com,vip\nBob,bad,vip\n';

  test('is refused with flags that work', async () => {
    const there = world();
    const ran = await sync(there, text);
    expect(ran.exitCode).toBe(2);
    expect(there.sent).toEqual([]);
    expect(ran.stderr).toContain('Line 1 of contacts.csv is a row, not a header');
    const flags = /--no-header --map \\"(#\d=email)\\"/u.exec(ran.stderr);
    expect(flags?.[1]).toBe('#2=email');
    expect((await dry(text, '--no-header', '--map', '#2=email', '--map', '#1=name')).sample).toEqual([
      { email: 'ann@example.com', name: 'Ann' },
    ]);
  });

  test('is refused below a remark too, and the flags count the lines', async () => {
    const ran = await sync(world(), `Export\n${text}`);
    expect(ran.stderr).toContain('--skip-lines 1 --no-header --map \\"#2=email\\"');
  });

  test('a list import wants a name too', async () => {
    const there = sandboxWorld();
    const file = join(there.folder, 'contacts.csv');
    await writeFile(file, text);
    const ran = await svc(there, ['lists', 'import', '1', file]);
    expect(ran.stderr).toContain('--no-header --map "#2=email" --map "#1=name"');
  });

  test('has rejects without one', async () => {
    const there = world();
    const rejects = join(there.folder, 'rejects.csv');
    await sync(there, text, '--no-header', '--map', '#2=email', '--rejects', rejects);
    expect(await readFile(rejects, 'utf8')).toBe('Bob,bad,vip,2,"""bad"" is not an email address"\r\n');
  });
});

describe('what is said can be typed', () => {
  test.each([
    ['Order #,Email\n1,a@example.com', '--map "#1=metadata.order"'],
    ['Email,Interested?\na@example.com,yes', '--map "#2=metadata.interested"'],
    ['Email,Plan\na@example.com,pro', '--map "Plan=metadata.plan"'],
    ['Email,Lead-Status,lead status\na@example.com,x,y', '--map "Lead-Status=metadata.lead_status"'],
    ['Email,Note,Note\na@example.com,x,y', '--map "#2=metadata.note"'],
    ['Email,$HOME `x`\na@example.com,x', '--map "#2=metadata.home_x"'],
  ])('%j: %s', async (text, hint) => {
    expect((await dry(text)).stderr).toContain(hint);
  });

  test('the column that holds addresses is named where no header says so', async () => {
    const ran = await sync(world(), 'Who,Where to write (e)\nAnn,ann@example.com\n');
    expect(ran.stderr).toContain('If it is this one: --map \\"#2=email\\"');
    expect((await dry('Who,Where to write (e)\nAnn,ann@example.com\n', '--map', '#2=email')).sample).toHaveLength(1);
  });

  test('"Nom" without "Prénom" is a last name, and its whole names are pointed out', async () => {
    const ran = await dry('Nom;Email\nJean Dupont;jean@example.com\n');
    expect(ran.sample).toEqual([{ email: 'jean@example.com', last_name: 'Jean Dupont' }]);
    expect(ran.stderr).toContain('If it is the whole name: --map "Nom=name"');
    expect((await dry('Prénom;Nom;Email\nJean;Du Pont;jean@example.com\n')).stderr).not.toContain('whole name');
  });
});

describe('tags, which cannot be taken off again', () => {
  const quoted = (cell: string) => `Email,Tags\na@example.com,"${cell.replaceAll('"', '""')}"\n`;

  test.each<[cell: string, tags: string[]]>([
    ['"VIP","Blog"', ['VIP', 'Blog']],
    ['"VIP"', ['VIP']],
    ['"New, big","say ""hi"""', ['New, big', 'say "hi"']],
    ['"VIP", Blog', ['VIP', 'Blog']],
    ['"a|b" ::: "c"', ['a|b', 'c']],
    ['["VIP","New, big"]', ['VIP', 'New, big']],
    ['vip; beta', ['vip', 'beta']],
    ['"VIP" people', ['"VIP" people']],
  ])('%s is plain', async (cell, tags) => {
    const ran = await dry(quoted(cell));
    expect(ran).toMatchObject({ exitCode: 0, sample: [{ tags }] });
  });

  test.each([
    ['vip, horeca', ','],
    ['VIP|returning', '|'],
    ['a ::: b', ':::'],
    ['Smith, John; vip', ','],
  ])('%s is a question, and --yes no answer to it', async (cell, separator) => {
    const there = world();
    const ran = await sync(there, quoted(cell), '--yes');
    expect(ran.exitCode).toBe(2);
    expect(there.sent).toEqual([]);
    expect(report(ran)).toMatchObject({ rows: 1, created: 0, unsent: 1 });
    expect(ran.stderr).toContain(`--tag-separator \\"${separator}\\"`);
    expect(ran.stderr).toContain('--tag-separator none');
    expect((await sync(world(), quoted(cell), '--dry-run')).exitCode).toBe(2);
  });

  test.each<[flag: string, tags: string[]]>([
    [',', ['vip', 'horeca']],
    ['none', ['vip, horeca']],
    [';', ['vip, horeca']],
  ])('--tag-separator %s answers it', async (flag, tags) => {
    const there = world();
    await sync(there, quoted('vip, horeca'), '--tag-separator', flag);
    expect(await stored(there)).toMatchObject([{ tags }]);
  });

  test('a row that is skipped asks nothing', async () => {
    const text = 'Email,Tags,Status\na@example.com,"a, b",gone\nb@example.com,c,here\n';
    expect(await sync(world(), text, '--skip', 'Status=gone')).toMatchObject({ exitCode: 0 });
  });
});

describe('phones', () => {
  const phone = (cell: string) => `Email,Phone\na@example.com,${cell}\n`;

  test.each([
    ['06 12 34 56 78', 'FR', '+33612345678'],
    ['07700 900456', 'gb', '+447700900456'],
    ['(773) 561-0201', 'US', '+17735610201'],
    ['+44 7700 900456', 'FR', '+44 7700 900456'],
    ['0044 7700 900456', 'FR', '0044 7700 900456'],
    ['call me', 'FR', 'call me'],
    ["'+31612345678", 'NL', '+31612345678'],
    ["'0612345678", 'NL', '+31612345678'],
  ])('%s in %s is %s', async (cell, country, expected) => {
    expect((await dry(phone(cell), '--phone-country', country)).sample).toMatchObject([{ phone: expected }]);
  });

  test('of phones that Google joined, the first is taken', async () => {
    expect((await dry(phone('+31612345678 ::: +31612345679'))).sample).toMatchObject([{ phone: '+31612345678' }]);
  });

  test("a spreadsheet's apostrophe is dropped", async () => {
    expect((await dry(phone("'+31612345678"))).sample).toMatchObject([{ phone: '+31612345678' }]);
    expect((await dry(phone("'"))).sample).toEqual([{ email: 'a@example.com' }]);
  });

  test.each([
    ['06 12 34 56 78', 'read 1 phone (line 2: 06 12 34 56 78) as North American'],
    ['555-0100', 'drop 1 phone (line 2: 555-0100)'],
    ['+1 555-4001', 'will ignore 1 phone (line 2: +1 555-4001)'],
    ['+33 012345678', 'no such number can exist'],
    ['n/a', 'will ignore 1 phone (line 2: n/a)'],
  ])('%s is warned of', async (cell, warning) => {
    expect((await dry(phone(cell))).stderr).toContain(warning);
  });

  test('what is no number of the country either is warned of', async () => {
    expect((await dry(phone('555-0100'), '--phone-country', 'fr')).stderr).toContain(
      'phones that are no numbers of FR',
    );
  });

  test('a national number is warned of with the flag that reads it', async () => {
    expect((await dry(phone('06 12 34 56 78'))).stderr).toContain('--phone-country, with its two letters');
    expect((await dry(phone('06 12 34 56 78'), '--phone-country', 'FR')).stderr).toBe('');
  });

  test('a country that is none is refused, also without a column of phones', async () => {
    const ran = await sync(world(), 'email\na@example.com\n', '--phone-country', 'France');
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no country') });
    expect((await sync(world(), 'email\na@example.com\n', '--phone-country', 'uk')).stderr).toContain(
      '--phone-country GB',
    );
  });
});

describe('--skip and --only', () => {
  const text =
    'Email,Status,Plan\na@example.com,active,pro\nb@example.com,Unsubscribed,pro\nbad,bounced,pro\nc@example.com,active,free\n';

  test('leave rows out before they are checked, and the sum holds', async () => {
    const ran = await sync(world(), text, '--skip', 'Status=unsubscribed', '--skip', 'Status=bounced');
    expect(report(ran)).toMatchObject({ rows: 4, created: 2, rejected: 0, skipped: 2, unsent: 0 });
    expect(ran.exitCode).toBe(0);
  });

  test('are accounted for, and their columns were not forgotten', async () => {
    const skip = ['--skip', 'Status=unsubscribed'];
    const { stderr } = await sync(world(), text, ...skip);
    expect(stderr).toContain('Columns that are not sent: Plan.\n');
    expect(stderr).toContain('--map "Plan=metadata.plan"');
    expect(stderr).toContain('2 of 4 rows are done: 1 rejected, 1 left out by --skip or --only.');
    const whole = await sync(world(), text, ...skip, '--only', 'Plan=pro');
    expect(whole.stderr).not.toContain('not sent');
  });

  test.each<[flags: string[], emails: string[]]>([
    [
      ['--only', 'Status=active'],
      ['a@example.com', 'c@example.com'],
    ],
    [
      ['--only', 'Status=active', '--only', 'status=unsubscribed'],
      ['a@example.com', 'b@example.com', 'c@example.com'],
    ],
    [['--only', 'Status=active', '--only', 'Plan=pro'], ['a@example.com']],
    [['--only', '#2=ACTIVE', '--skip', 'Plan=free'], ['a@example.com']],
    [
      ['--skip', 'Status='],
      ['a@example.com', 'b@example.com', 'c@example.com'],
    ],
  ])('%j keeps %j', async (flags, emails) => {
    expect((await dry(text, ...flags)).sample.map(({ email }) => email)).toEqual(emails);
  });

  test('take a header and a value that hold "="', async () => {
    const odd = 'Email,a=b\na@example.com,x=y\nb@example.com,z\n';
    expect((await dry(odd, '--skip', 'a=b=x=y')).sample).toMatchObject([{ email: 'b@example.com' }]);
  });

  test.each([
    ['Status', '--skip takes COLUMN=VALUE, not'],
    ['Nope=x', 'the file has no column'],
    ['=x', '--skip takes COLUMN=VALUE'],
  ])('%j is refused', async (filter, message) => {
    expect(await sync(world(), text, '--skip', filter)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });

  test('that leave nothing say so', async () => {
    const ran = await sync(world(), text, '--only', 'Plan=gold');
    expect(ran).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('leave out all 4 rows') });
  });

  test('rows that are left out take no part in --dedupe', async () => {
    const twice = 'Email,Name,Status\na@example.com,Old,gone\na@example.com,New,here\n';
    const ran = await dry(twice, '--skip', 'Status=gone', '--dedupe', 'first');
    expect(ran.sample).toEqual([{ email: 'a@example.com', name: 'New' }]);
  });
});

describe('people who want no mail are pointed out with a flag that leaves them out', () => {
  test.each([
    ['Email status', 'unsubscribed', '--skip "Email status=unsubscribed"'],
    ['Status', 'Bounced', '--skip "Status=Bounced"'],
    ['Email Opt Out', 'TRUE', '--skip "Email Opt Out=TRUE"'],
    ['Unsubscribed from all email', 'Yes', '--skip "Unsubscribed from all email=Yes"'],
    ['Accepts Email Marketing', 'no', '--skip "Accepts Email Marketing=no"'],
    ['Opted out?', 'yes', '--skip "#2=yes"'],
    ['UNSUB_TIME', '2024-01-01 10:00:00', '--only "UNSUB_TIME="'],
    ['Remark', 'Do not contact', '--skip "Remark=Do not contact"'],
    ['Newsletter abgemeldet', 'ja', '--skip "Newsletter abgemeldet=ja"'],
    ['Newsletter unsubscribed', 'TRUE', '--skip "Newsletter unsubscribed=TRUE"'],
    ['Newsletter-Abmeldung', '31.01.2024', '--only "Newsletter-Abmeldung="'],
    ['Abmeldedatum', '31.01.2024', '--only "Abmeldedatum="'],
    ['Datum der Abmeldung', '31.01.2024', '--only "Datum der Abmeldung="'],
    ['Abbestellt', 'WAHR', '--skip "Abbestellt=WAHR"'],
    ['EMAIL_BLACKLIST', 'yes', '--skip "EMAIL_BLACKLIST=yes"'],
    ['emailOptOut', 'true', '--skip "emailOptOut=true"'],
    ['Desuscrito', 'sí', '--skip "Desuscrito=sí"'],
    ['Fecha de baja', '2024-01-31', '--only "Fecha de baja="'],
    ['Opt-out', 'Jan 31 2024', '--only "Opt-out="'],
    ['Désabonné', '2024-01-31 10:00', '--only "Désabonné="'],
    ['GDPR consent', 'FALSE', '--skip "GDPR consent=FALSE"'],
    ['Einwilligung', 'nein', '--skip "Einwilligung=nein"'],
    ['Werbung erlaubt', 'Nein', '--skip "Werbung erlaubt=Nein"'],
    ['Darf kontaktiert werden', 'no', '--skip "Darf kontaktiert werden=no"'],
    ['수신거부', 'yes', '--skip "수신거부=yes"'],
  ])('%s: %s', async (header, value, flag) => {
    const text = `Email,${header}\na@example.com,${value}\nb@example.com,\n`;
    const ran = await dry(text);
    expect(ran.stderr).toContain(`To leave them out: ${flag}`);
    const [, name = '', filter = ''] = /(--\w+) "(.*)"/u.exec(flag) ?? [];
    const after = await dry(text, name, filter);
    expect(after.sample).toEqual([{ email: 'b@example.com' }]);
    expect(after.stderr).not.toContain('To leave them out');
  });

  const dates = (count: number) => Array.from({ length: count }, (_, i) => `2024-01-${10 + i}`);

  test.each<[header: string, cells: string[], flags: string, sent: number]>([
    ['Abgemeldet', ['nein', 'nein', '2024-01-31', 'nein'], '--skip "Abgemeldet=2024-01-31"', 3],
    ['unsub date', ['0', '0', '2024-01-31', ''], '--skip "unsub date=2024-01-31"', 3],
    ['Abgemeldet', ['ja', '2024-01-31', 'nein'], '--skip "Abgemeldet=ja" --skip "Abgemeldet=2024-01-31"', 1],
    ['Abgemeldet', ['ja', '2024-01-31', ''], '--only "Abgemeldet="', 1],
    ['Abgemeldet', [...dates(9), 'Nein', 'nein', ''], '--only "Abgemeldet=" --only "Abgemeldet=nein"', 3],
    ['Unsub reason', ['it costs $5', '-', ''], '--only "Unsub reason=" --only "Unsub reason=-"', 2],
    ['Unsub reason', ['no, unsubscribe me', 'no time', ''], '--only "Unsub reason="', 1],
    ['Do not contact', ['yes', 'no'], '--skip "Do not contact=yes"', 1],
    ['Abgemeldet (nicht mehr anrufen)', ['ja', 'nein'], '--skip "#2=ja"', 1],
  ])('%s, with %j: %s', async (header, cells, flags, sent) => {
    const text = `Email,${header}\n${cells.map((cell, i) => `p${i}@example.com,"${cell}"\n`).join('')}`;
    const ran = await dry(text);
    const advice = /To leave them out: (.*)/u.exec(ran.stderr)?.[1] ?? '';
    expect(advice).toBe(flags);
    const typed = [...advice.matchAll(/(--\w+) "(.*?)"/gu)].flatMap(([, flag = '', value = '']) => [flag, value]);
    const after = await dry(text, ...typed);
    expect(report(after)).toMatchObject({ skipped: cells.length - sent });
    expect(after.stderr).not.toContain('marks people');
  });

  test.each([
    ['Abgemeldet', [...dates(9), ...'abcdef'], '"2024-01-12", … in 9 rows'],
    ['Status', ['active', ...'unsub,bounced,cleaned,spam,opt out,removed'.split(',')], '"cleaned", … in 6 rows'],
  ])('where that would be too much to type no flag is named: %s', async (header, cells, said) => {
    const ran = await dry(`Email,${header}\n${cells.map((cell, i) => `p${i}@example.com,${cell}\n`).join('')}`);
    expect(ran.stderr).toContain(`${said}. They are sent unless the file leaves them out.`);
    expect(ran.stderr).not.toContain('To leave them out');
  });

  test.each([
    ['Status', 'active'],
    ['Opted Out', 'No'],
    ['Remark', 'Optician in Bouncetown'],
    ['Abonnement', 'ja'],
    ['Consent form', 'no'],
    ['Photo consent', 'no'],
    ['Einwilligung', 'ja'],
    ['Newsletter', 'yes'],
    ['Last contacted', '2024-01-31'],
    ['Newsletter abgemeldet', 'nein'],
    ['Emails bounced', '1'],
    ['Unsubscribe link', 'https://example.com/u'],
    ['Opted out on website', 'no'],
    ['Status', 'bounced$()'],
    ['Status', 'bounced\u009b'],
    ['Nicht abgemeldet', 'ja'],
    ['not unsubscribed', 'yes'],
    ['Is not unsubscribed', '2024-01-31'],
    ["Hasn't opted out", 'TRUE'],
    ['non désabonné', 'oui'],
    ['pas désabonné', 'oui'],
    ['Kein Abmeldedatum', 'ja'],
    ['Nunca descadastrado', 'sim'],
    ['Niet uitgeschreven', 'ja'],
    ['Opt-out free', 'yes'],
    ['Unsub date', '0000-00-00 00:00:00'],
    ['Opt-out', '0000-00-00'],
    ['Unsub date', '-'],
    ['Unsub reason', 'N/A'],
    ['Abmeldegrund', 'nicht abgemeldet'],
  ])('%s: %s marks nobody', async (header, value) => {
    expect((await dry(`Email,${header}\na@example.com,${value}\n`)).stderr).not.toContain('To leave them out');
  });
});

test('--dry-run --json has the mapping, with the columns that stand in, and up to five contacts', async () => {
  const rows = Array.from({ length: 7 }, (_, i) => `p${i}@example.com,,+4420794609${50 + i},x`).join('\n');
  const ran = await dry(`Email,Mobile,Work Phone,\n${rows}\n`, '--map', '#4=metadata.x');
  expect(report(ran).mapping).toEqual([
    { column: 'Email', field: 'email' },
    { column: 'Mobile', field: 'phone' },
    { column: '#4', field: 'metadata.x' },
    { column: 'Work Phone', field: 'phone' },
  ]);
  expect(ran.sample).toHaveLength(5);
  expect(ran.sample[0]).toEqual({ email: 'p0@example.com', phone: '+442079460950', metadata: { x: 'x' } });
  const real = report(await sync(world(), 'email\na@example.com\n'));
  expect(real).not.toHaveProperty('mapping');
  expect(real).not.toHaveProperty('skipped');
});

describe('an interrupted run goes on only where the file is read alike', () => {
  const rows = Array.from({ length: 1000 }, (_, i) => `person${i}@example.com,Name ${i},${i % 2},06 12 34 56 78`).join(
    '\n',
  );
  const text = `email,name,half,phone\n${rows}\n`;

  const dyingAfter = (there: SandboxWorld, answers: number): Exchange => {
    let count = 0;
    return async (request) =>
      asksAccount(request) || count++ < answers
        ? there.exchange(request)
        : { lost: 'before-sending', reason: 'refused', detail: 'Refused.' };
  };

  async function resumed(first: string[], then: string[]) {
    const there = world();
    await sync({ ...there, exchange: dyingAfter(there, 2) }, text, '--concurrency', '1', ...first);
    return report(await sync(there, text, ...then)).resumed_rows as number;
  }

  test.each<[first: string[], then: string[], rows: number]>([
    [[], [], 400],
    [['--skip', 'half=1'], ['--skip', 'half=1'], 400],
    [[], ['--skip', 'half=1'], 0],
    [[], ['--only', 'half=1'], 0],
    [[], ['--phone-country', 'FR'], 0],
    [['--phone-country', 'FR'], ['--phone-country', 'fr'], 400],
    [[], ['--tag-separator', 'none'], 0],
    [[], ['--skip-lines', '0'], 400],
  ])('%j, then %j: %i rows are done', { tags: ['long'] }, async (first, then, expected) => {
    expect(await resumed(first, then)).toBe(expected);
  });

  test('journals of 0.1.0 count: their names say how they read the file', async () => {
    const there = world();
    const text = 'email,name,Tags,Plan\na@example.com,Ada,vip; beta,pro\n';
    await sync({ ...there, exchange: dyingAfter(there, 0) }, text, '--tag', 'new', '--map', 'Plan=metadata.plan');
    const reading =
      '[{"width":4,"columns":[{"index":0,"header":"email","to":"email"},{"index":1,"header":"name","to":"name"},' +
      '{"index":2,"header":"Tags","to":"tags"},{"index":3,"header":"Plan","to":"metadata.plan"}],"unused":[]},' +
      '{"tagSeparator":";","tags":["new"],"metadata":{},"strictPhone":false,"map":["Plan=metadata.plan"]},200]';
    const name = hexDigestOf(JSON.stringify([reading])).slice(0, 24);
    const names = (await readdir(join(there.folder, 'state', 'sync'))).filter((each) => each.endsWith('.jsonl'));
    expect(names).toEqual([expect.stringMatching(`^[0-9a-f]{24}-${name}.jsonl$`)]);
  });
});
