import { describe, expect, test } from 'vitest';
import {
  address,
  agreement,
  isAlikeRendered,
  isSameEmail,
  isSamePhone,
  isSameRendered,
  isSameSet,
  isSameText,
  isSameTime,
  isSameUrl,
  isSameValue,
  isStoredPhone,
  likeness,
  momentOf,
} from '../../src/http/look/agree.ts';
import { fc } from '../chance.ts';
import { cpuTimer } from '../cpu.ts';
import { type SandboxWorld, sandboxWorld } from '../sandbox-world.ts';
import { svc, type World } from '../svc.ts';

describe('what a service may do to a value on the way in', () => {
  test.each([
    ['  Export fails ', 'Export fails'],
    ['Export   fails', 'Export fails'],
    ['line\r\nline', 'line\nline'],
    ['Zoe\u0308', 'Zo\u00eb'],
    [null, ''],
    [undefined, ''],
    [null, undefined],
    ['', '  '],
  ])('text: %j is %j', (stored, sent) => {
    expect(isSameText(stored, sent)).toBe(true);
    expect(isSameText(sent, stored)).toBe(true);
  });

  test.each([
    ['Export fails', 'export fails'],
    ['Export fails', 'Exportfails'],
    ['Export fails', ''],
    ['Export fails', null],
    ['Export fails', undefined],
    ['Export fails', 'Export fails again'],
    ['5', 6],
  ])('text: %j is not %j', (stored, sent) => {
    expect(isSameText(stored, sent)).toBe(false);
  });

  test.each([
    ['<p>The export is fixed.</p>', 'The export is fixed.'],
    ['<p>Hello,</p>\n<p>the export<br />is fixed.</p>', 'Hello,\n\nthe export\nis fixed.'],
    [
      '<div class="x"><p>Ben &amp; Jerry&#39;s &lt;b&gt; &#x2019;&nbsp;&quot;5&quot;</p></div>',
      'Ben & Jerry\'s <b> \u2019 "5"',
    ],
    ['5 &lt; 6', '5 < 6'],
    ['<p style="margin:0" dir=ltr>Hello there</p>', 'Hello there'],
    ["<div class='x'><span>Hello there</span></div>", 'Hello there'],
    ['<pre>Hello\nthere, you</pre>', 'Hello\nthere, you'],
    ['<p><b>Hi</b>, there</p>', '<b>Hi</b>, there'],
    ['<div dir="auto">Zo&euml; &ndash; caf&eacute;<br>&Ouml;l&nbsp;&frac12; &copy;</div>', 'Zoë – café\nÖl ½ ©'],
    [
      '<p>See <a href="https://a.example/?x=1&amp;y=2">https://a.example/?x=1&amp;y=2</a></p>',
      'See https://a.example/?x=1&y=2',
    ],
    ['<p>use &lt;b&gt; tag</p>', 'use <b> tag'],
    ['<p>use &amp;lt;b&amp;gt; tag</p>', 'use &lt;b&gt; tag'],
    ['<p>Caf&eacute;</p>', 'Caf&#233;'],
    ['<ul><li>A &amp; B</li><li>C</li></ul>', '<ul>\n  <li>A & B</li>\n  <li>C</li>\n</ul>'],
    ['<P>A <B>b</B><BR />c</P>', '<p>A <b>b</b><br>c</p>'],
    ['<a href="https://a.example/?x=1&amp;y=2">Here</a>', '<a href="https://a.example/?x=1&y=2">Here</a>'],
    ['<p>See <a href="http://www.a.example">www.a.example</a>.</p>', 'See www.a.example.'],
    ['<p>See <a href="https://a.example/b" target="_blank">a.example/b</a></p>', 'See a.example/b'],
    ['See <a rel="nofollow" href="https://a.example/">https://A.example</a>', 'See https://A.example'],
    ['<p>See <a href="https://a.example/b">https://A.example/b</a></p>', 'See https://A.example/b'],
    ['<p><a href="mailto:ada@a.example">Ada@a.example</a></p>', 'Ada@a.example'],
    ['<p>Call <a href="tel:+15550100">+1 555-0100</a></p>', 'Call +1 555-0100'],
    [
      '<p><a href="https://a.example" rel="nofollow">https://a.example</a></p>',
      "<a href='https://a.example'>https://a.example</a>",
    ],
    ['<p><a href="https://a.example" rel="nofollow">Here</a></p>', "<a href='https://a.example'>Here</a>"],
    ['<h1>Hi</h1>', '<h1 class="x">Hi</h1>'],
    ['<p>Hi there</p>', '<p>Hi <span style="color:red">there</span></p>'],
    ['<p>Hi</p>', '<div class="x"><p>Hi</p></div>'],
    [
      '<p>Hi <a href="https://a.example">there</a></p>',
      '<p>Hi <a href="https://a.example" onclick="a()">there</a></p>',
    ],
  ])('a message in markup is that text: %j is %j', (stored, sent) => {
    expect(isSameRendered(stored, sent)).toBe(true);
    expect(isSameText(stored, sent)).toBe(false);
  });

  test.each([
    ['<p>The export is fixed.</p>', 'The export is broken.'],
    ['<p>The export is fixed.</p>', ''],
    ['The export', '<p>The export</p>'],
    ['&#x110000; &unknown;', '\u{10ffff} &unknown;'],
    ['5 < 6 and 7 > 6', '5 6'],
    ['Hi <x@y.de>', 'Hi'],
    ['Reset <password>', 'Reset'],
    ['<b>Paid</b>: no', '<i>Paid</i>: no'],
    ['<b>Paid</b>: no', 'Paid: no'],
    ['Paid: no', '<b>Paid</b>: no'],
    ['<p>if ad</p>', 'if a<b and c>d'],
    ['<p>Hello <b>W</b>orld.</p>', 'Hello World.'],
    ['use <b> tag', 'use tag'],
    ['use <br> tag', 'use tag'],
    ['use <b> tag', 'use &lt;b&gt; tag'],
    ['<p><b>x</b></p>', '&lt;b&gt;x&lt;/b&gt;'],
    ['Q&A', 'Q&amp;A'],
    ['Q&amp;A', 'Q&amp;amp;A'],
    ['<p>See <a href="https://b.example">https://a.example</a></p>', 'See https://a.example'],
    ['<a href="x&quot; title=&quot;y">z</a>', '<a href="x" title="y">z</a>'],
    ['<p>See <a href="http://www.b.example">www.a.example</a></p>', 'See www.a.example'],
    ['<p>See <a href="http://a.example">www.a.example</a></p>', 'See www.a.example'],
    ['<p>See <a href="https://a.example/B">a.example/b</a></p>', 'See a.example/b'],
    ['<p>See <a href="http://a.example">https://a.example</a></p>', 'See https://a.example'],
    ['<p>See <a href="https://a.example@b.example">https://a.example</a></p>', 'See https://a.example'],
    ['<p>Ask <a href="mailto:eve@a.example">ada@a.example</a></p>', 'Ask ada@a.example'],
    ['<p>Call <a href="tel:+15550101">+1 555-0100</a></p>', 'Call +1 555-0100'],
    ['<p>Call <a href="tel:555">me, or 555</a></p>', 'Call me, or 555'],
    ['<a href="https://b.example">Here</a>', '<a href="https://a.example">Here</a>'],
    ['<img src="b.png">', '<img src="a.png">'],
    ['if a<b and c=5>d', 'if a<b and c=6>d'],
    ['if a<b x="1">d', 'if a<b x="2">d'],
    ['<form action="https://b.example">', '<form action="https://a.example">'],
    ['<use xlink:href="#b">', '<use xlink:href="#a">'],
    ['<object data="b.svg">', '<object data="a.svg">'],
    ['<img srcset="b.png 2x">', '<img srcset="a.png 2x">'],
    ['<ol start="4"><li>x</li></ol>', '<ol start="3"><li>x</li></ol>'],
    ['<p>Ask <a href="http://ada@a.example">ada@a.example</a></p>', 'Ask ada@a.example'],
    ['<p>See <a href="https://a.example/b/">https://a.example/b</a></p>', 'See https://a.example/b'],
    ['if a<b or c>d', 'if a<b and c>d'],
  ])('and no other text: %j is not %j', (stored, sent) => {
    expect(isSameRendered(stored, sent)).toBe(false);
  });

  test('a text that is marked otherwise is alike, and one of other words is not', () => {
    expect(isAlikeRendered('<p><i>Paid</i>: no</p>', '<b>Paid</b>: no')).toBe(true);
    expect(isAlikeRendered('<p>Paid: yes</p>', '<b>Paid</b>: no')).toBe(false);
  });

  test('an email has no case, and another one is another one', () => {
    expect(isSameEmail('Ada@Example.com ', 'ada@example.COM')).toBe(true);
    expect(isSameEmail('ada@example.com', 'ada@example.org')).toBe(false);
  });

  test('a phone is its digits', () => {
    expect(isSamePhone('+1 (202) 555-0123', '12025550123')).toBe(true);
    expect(isSamePhone('+12025550123', '+12025550124')).toBe(false);
    expect(isSamePhone(null, '')).toBe(true);
  });

  test('a URL is where it leads', () => {
    expect(isSameUrl('https://A.example:443', 'https://a.example/')).toBe(true);
    expect(isSameUrl(' https://a.example/in ', 'https://a.example/in')).toBe(true);
    expect(isSameUrl('https://a.example/in', 'https://a.example/out')).toBe(false);
    expect(isSameUrl('https://a.example/In', 'https://a.example/in')).toBe(false);
    expect(isSameUrl('no address', 'no address')).toBe(true);
    expect(isSameUrl('no address', 'another')).toBe(false);
    expect(isSameUrl(null, 'https://a.example/')).toBe(false);
  });
});

describe('what a service may have made of a phone number', () => {
  test.each([
    ['+12025550123', '+12025550123'],
    ['+12025550123', '(202) 555-0123'],
    ['+442079460123', '020 7946 0123'],
    ['+442079460123', '0020 7946 0123'],
    ['+442079460123', '+44 (0)20 7946 0123'],
    ['+12025550123', '202-555-0123 ext 9'],
    ['+12025550123', '202-555-0123 EXT. 9'],
    ['+12025550123', '202-555-0123x9'],
    ['+12025550123', '202-555-0123#9'],
    ['+12025550123', '202-555-0123;ext=9'],
    ['+18003569377', '1-800-FLOWERS'],
    ['', ''],
    [null, '000'],
  ])('%j may be %j', (stored, sent) => {
    expect(isStoredPhone(stored, sent)).toBe(true);
  });

  test.each([
    ['+12025550124', '(202) 555-0123'],
    ['2025550123', '+1 202 555 0123'],
    ['', '2025550123'],
    ['2025550123', ''],
    ['2025550123', '000'],
    ['+12025550123', '202-555-0124 ext 0123'],
  ])('%j is not %j', (stored, sent) => {
    expect(isStoredPhone(stored, sent)).toBe(false);
  });
});

describe('a time', () => {
  test.each([
    ['2026-05-01T10:00:00Z', '2026-05-01T12:00:00+02:00'],
    ['2026-05-01T10:00:00.900Z', '2026-05-01T10:00:00Z'],
    ['2026-05-01T10:00:00Z', '2026-05-01T10:00:59.5Z'],
    ['2026-05-01', '2026-05-01T23:59:59Z'],
    ['2026-04-30', '2026-05-01T01:00:00+02:00'],
    ['2026-05-01 10:00:00', '2026-05-01T10:00:00Z'],
    ['2026-05-01T10:00:00', '2026-05-01T10:00:00z'],
    ['2026-05-01T10:00:00-0200', '2026-05-01T12:00:00'],
    ['2026-05-01', '2026-05-01T00:00:00Z'],
    ['tomorrow', ' tomorrow '],
    [null, ''],
  ])('%j is %j', (stored, sent) => {
    expect(isSameTime(stored, sent)).toBe(true);
  });

  test.each([
    ['2026-05-01T10:00:01Z', '2026-05-01T10:00:02Z'],
    ['2026-05-01T10:01:00Z', '2026-05-01T10:00:59Z'],
    ['2026-05-01T00:00:00Z', '2026-05-01T09:00:00Z'],
    ['2026-05-02', '2026-05-01T23:59:59Z'],
    ['2026-05-01T10:00:00Z', '2026-05-01T10:00:00+02:00'],
    ['2026-05-01T10:00:00Z', null],
    ['tomorrow', '2026-05-01'],
    ['tomorrow', 'today'],
  ])('%j is not %j', (stored, sent) => {
    expect(isSameTime(stored, sent)).toBe(false);
    expect(isSameTime(sent, stored)).toBe(false);
  });

  test('without a zone it is UTC; a day alone is its beginning; what is none is no number', () => {
    expect(momentOf('2026-05-01 10:00')).toBe(Date.UTC(2026, 4, 1, 10));
    expect(momentOf('2026-05-01T10:00+02:00')).toBe(Date.UTC(2026, 4, 1, 8));
    expect(momentOf('2026-05-01')).toBe(Date.UTC(2026, 4, 1));
    expect(momentOf(20_260_501)).toBeNaN();
    expect(momentOf('Zoe')).toBeNaN();
  });
});

describe('values of JSON', () => {
  test.each([
    [{}, []],
    [{}, null],
    [{}, undefined],
    [{}, ''],
    [{ a: 'x', b: null }, { a: ' x' }],
    [{ a: [1, { b: true }] }, { a: [1, { b: true, c: '' }] }],
    [
      { a: 'x', b: 'y' },
      { b: 'y', a: 'x' },
    ],
    [null, undefined],
    ['x  y', 'x y'],
    [0, 0],
    [false, false],
  ])('%j is %j', (stored, sent) => {
    expect(isSameValue(stored, sent)).toBe(true);
    expect(isSameValue(sent, stored)).toBe(true);
  });

  test.each([
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [[], ['x']],
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1 }, []],
    [{ a: 1 }, null],
    [{}, ['x']],
    [{}, 'x'],
    [{}, 0],
    [{}, false],
    [['x'], 'x'],
    [[], ''],
    [1, '1'],
    [0, ''],
    [0, null],
    [false, null],
    [true, 'true'],
    [true, false],
    [1, 2],
    ['x', null],
  ])('%j is not %j', (stored, sent) => {
    expect(isSameValue(stored, sent)).toBe(false);
    expect(isSameValue(sent, stored)).toBe(false);
  });

  test('labels have no order, and no labels are none', () => {
    expect(isSameSet(['b ', 'a'], ['a', 'b'])).toBe(true);
    expect(isSameSet(null, [])).toBe(true);
    expect(isSameSet('a', undefined)).toBe(true);
    expect(isSameSet(['a'], ['a', 'b'])).toBe(false);
    expect(isSameSet(['a', 'a'], ['a'])).toBe(false);
    expect(isSameSet(['a'], null)).toBe(false);
    expect(isSameSet(null, ['a'])).toBe(false);
  });
});

test('a record is ours as a whole, in part, or not at all', () => {
  expect(agreement([true, true], [true])).toBe('whole');
  expect(agreement([true], [])).toBe('whole');
  expect(agreement([true, false], [true])).toBe('part');
  expect(agreement([false, true], [true])).toBe('part');
  expect(agreement([true], [true, false])).toBe('part');
  expect(agreement([false, false], [true, true])).toBe('none');
  expect(agreement([], [true])).toBe('none');
});

test('an address is where it leads; what is none stays as it is', () => {
  expect(address(' https://A.example:443/a b ')).toBe('https://a.example/a%20b');
  expect(address(' no  address ')).toBe('no address');
  expect(address(null)).toBe('');
});

test('texts that agree have one likeness, and others have another', () => {
  expect(likeness(' Zoe\u0308 ', null)).toBe(likeness('ZO\u00cb', ''));
  expect(likeness('a', 'b')).not.toBe(likeness('b', 'a'));
  expect(likeness('a', 'b')).not.toBe(likeness('ab', ''));
  expect(likeness('a')).not.toBe(likeness('b'));
  expect(likeness('<b>a</b>')).not.toBe(likeness('<i>a</i>'));
  expect(likeness('Reset <password>')).not.toBe(likeness('Reset'));
  expect(likeness('use <b> tag')).toBe(likeness('use &lt;b&gt; tag'));
  expect(likeness('See www.a.example')).toBe(likeness('See <a href="http://www.a.example">www.a.example</a>'));
  expect(likeness('<h1 class="a">x</h1>')).toBe(likeness("<h1 class='b'>x</h1>"));
});

test('a text that is spelled as HTML thousands of times is judged at once', () => {
  const past = cpuTimer();
  likeness(`&${'amp;'.repeat(5_000)}`);
  likeness(`${'<sp'.repeat(3_000)}<span>${'an>'.repeat(3_000)}`);
  expect(past()).toBeLessThan(1_000);
});

describe('a text that is kept as HTML, by chance', () => {
  const parts = ['a', 'b', 'é', ' ', '\n', '<', '>', '&', '"', '&lt;', '&gt;', '&amp;', '&#60;', '&eacute;', '&nbsp;'];
  const tags = [
    '<b>',
    '</b>',
    '<i>',
    '<p>',
    '</p>',
    '<br>',
    '<BR />',
    '<p class="x">',
    '<a href="a">a</a>',
    '<a href="http://a" rel="b">a</a>',
    '<span id="a">',
    '<b class="a">',
    "<b id='b'>",
    '<a&amp;b>',
  ];
  const text = fc.array(fc.constantFrom(...parts, ...tags), { maxLength: 8 }).map((all) => all.join(''));
  const words = fc
    .array(fc.constantFrom('a', 'b', 'é', ' ', '<', '&', '"', '5 > 4'), { maxLength: 8 })
    .map((all) => all.join(''));
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&#34;',
    é: '&eacute;',
  };
  /** What services make of a text: a page that shows it. */
  const pages: readonly ((typed: string) => string)[] = [
    (typed) => typed,
    (typed) => typed.replaceAll(/[&<>"é]/gu, (one) => names[one] ?? one),
    (typed) => `<p>${typed.replaceAll(/[&<>]/gu, (one) => names[one] ?? one).replaceAll('\n', '<br />\n')}</p>`,
    (typed) =>
      `<div class="x">${typed.replaceAll(/[&<>"é]/gu, (one) => names[one] ?? one).replaceAll('\n', '</p><p>')}</div>`,
  ];

  test('agrees with what was sent, whichever page the service makes of it', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...pages), (typed, page) => {
        expect(isSameRendered(page(typed), typed)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('agrees with no other text without markup', () => {
    fc.assert(
      fc.property(words, words, fc.constantFrom(...pages), (kept, sent, page) => {
        expect(isSameRendered(page(kept), sent)).toBe(isSameText(kept, sent));
      }),
      { numRuns: 2_000 },
    );
  });

  test('has one likeness with all that it agrees with', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...pages), fc.array(text, { maxLength: 4 }), (kept, page, others) => {
        const stored = page(kept);
        const spellings = [kept, stored, ...pages.map((each) => each(kept)), decodedOnce(kept), ...others];
        const alike = spellings.filter((sent) => isSameRendered(stored, sent));
        expect(new Set(alike.map((sent) => likeness(sent))).size).toBe(1);
      }),
      { numRuns: 5_000 },
    );
  });

  const decodedOnce = (html: string) =>
    html
      .replaceAll(/&(?:lt|#60);/gu, '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&eacute;', 'é')
      .replaceAll('&nbsp;', ' ')
      .replaceAll('&amp;', '&');
});

type Body = Readonly<Record<string, unknown>>;
type Case = readonly [what: string, argv: readonly string[], differs: Body, agrees: 'in part' | 'in nothing'];

const ticket = ['tickets', 'create', '--subject', 'Twice', '--description', 'The same'];
const contact = ['contacts', 'create', '--name', 'Ada', '--last-name', 'B', '--email', 'a@example.com'];
const withPhone = [...contact, '--phone', '+12025550123'];
const list = ['lists', 'create', '--name', 'Twice', '--target-industry', 'Any', '--notes', 'n'];
const entry = ['api', '/changelog', '-f', 'title=Twice', '-f', 'content=x', '-f', 'version=1.2.0'];

/** Somebody else writes nearly the same at the moment in which ours is lost. */
const cases: readonly Case[] = [
  ['a ticket with another description', ticket, { description: 'Another' }, 'in part'],
  ['a ticket without a description', ticket, { description: undefined }, 'in part'],
  ['a ticket with another subject', ticket, { subject: 'Once' }, 'in part'],
  ['a ticket of another priority', ticket, { priority: 3 }, 'in part'],
  ['a ticket of somebody', ticket, { contact_id: 7 }, 'in part'],
  ['a contact with another email', withPhone, { email: 'b@example.com' }, 'in part'],
  ['a contact with another phone', withPhone, { phone: '+12025550124' }, 'in part'],
  ['a contact with another name', withPhone, { name: 'Eve' }, 'in part'],
  ['a contact with another last name', withPhone, { last_name: 'C' }, 'in part'],
  ['a ticket that is due', ticket, { due_at: '2026-05-01T00:00:00Z' }, 'in part'],
  [
    'a ticket that is due at another time',
    [...ticket, '--due-at', '2026-05-01'],
    { due_at: '2026-05-02T00:00:00Z' },
    'in part',
  ],
  ['a contact of a company', withPhone, { company: 'Umbra' }, 'in part'],
  ['a contact of another company', [...withPhone, '--company', 'Acme'], { company: 'Umbra' }, 'in part'],
  ['a contact with a website', withPhone, { website: 'https://a.example' }, 'in part'],
  ['a contact of a country', withPhone, { country: 'DE' }, 'in part'],
  ['a contact with metadata', withPhone, { metadata: { plan: 'pro' } }, 'in part'],
  ['a changelog entry with other text', entry, { content: 'Another text' }, 'in part'],
  ['a changelog entry that is published', entry, { status: 'published' }, 'in part'],
  ['a changelog entry with labels', entry, { labels: ['fix'] }, 'in part'],
  ['a changelog entry with other labels', [...entry, '-f', 'labels[]=new'], { labels: ['fix'] }, 'in part'],
  ['a list with another name', list, { name: 'Once' }, 'in nothing'],
  ['a list of another industry', list, { target_industry: 'Steel' }, 'in part'],
  ['a changelog entry of another version', entry, { version: '1.3.0' }, 'in part'],
  ['a changelog entry without a version', entry, { version: undefined }, 'in part'],
  ['a changelog entry with another title', entry, { title: 'Once' }, 'in part'],
  ['another reply to the ticket', ['tickets', 'reply', '8', '--body', 'Hello'], { body: 'Hello there' }, 'in nothing'],
  ['another message', ['conversations', 'reply', '1', '--body', 'Hello'], { body: 'Hello there' }, 'in nothing'],
];

test.each(cases)('%s, made by somebody else meanwhile, is not taken for ours', async (_, argv, differs, agrees) => {
  const world = sandboxWorld();
  const made: number[] = [];
  const ran = await svc(overtaken(world, differs, made), [...argv, '--json']);
  // It was made, so there was something to be taken for ours.
  expect(made).toEqual([expect.any(Number)]);
  expect(made[0]).toBeLessThan(300);
  expect(ran.exitCode).toBe(9);
  const { candidates } = JSON.parse(ran.stderr.trimEnd().split('\n').at(-1) ?? '').error;
  expect(candidates).toEqual(agrees === 'in part' ? [expect.any(Number)] : []);
  if (agrees === 'in part') expect(ran.stderr).toContain('agrees in part only, so it may be somebody else’s.');
});

test.each([
  ['of another event', { event_type: 'ticket.created' }],
  ['of another URL', { target_url: 'https://a.example/c' }],
])('a subscription %s, made by somebody else meanwhile, stays', async (_, differs) => {
  const world = sandboxWorld();
  const tokens = { account_id: 1, scopes: ['webhooks:manage'] };
  const { access_token } = (await world.control('POST', 'tokens', tokens)) as { access_token: string };
  const env = { SVC_API_KEY: '', SVC_ACCESS_TOKEN: access_token };
  const argv = ['webhooks', 'create', 'call.completed', 'https://a.example/b', '--json'];
  const ran = await svc(overtaken(world, differs, []), argv, { env });
  expect(ran.exitCode).toBe(9);
  expect(JSON.parse((await svc(world, ['webhooks', 'list', '--json'], { env })).stdout)).toMatchObject([
    { event_type: 'call.completed', target_url: 'https://a.example/b', ...differs },
  ]);
});

/** Our request is lost, and another one that differs a little is stored instead. */
function overtaken(world: SandboxWorld, differs: Body, statuses: number[]): World {
  return {
    ...world,
    async exchange(request) {
      // What svc does to the record of the other one is done.
      if (request.method !== 'POST') return world.exchange(request);
      const body = JSON.stringify({ ...JSON.parse(String(request.body)), ...differs });
      const answer = await world.exchange({ ...request, body });
      statuses.push('status' in answer ? answer.status : 0);
      return { lost: 'after-sending', reason: 'reset', detail: 'The connection broke.' };
    },
  };
}
