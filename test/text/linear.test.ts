import { expect, test } from 'vitest';
import { plain } from '../../src/answers/report-md.ts';
import { isStoredPhone } from '../../src/http/look/agree.ts';
import { spelled, unwrapped } from '../../src/http/look/html.ts';
import { cellForPeople } from '../../src/output/cells.ts';
import { isUnreleasedLine } from '../../src/release/heading.ts';
import { headingsOf } from '../../src/release/headings.ts';
import { rstHeadings, rstTargets, rstToMarkdown } from '../../src/release/rst.ts';
import { releaseFields } from '../../src/release/section.ts';
import { versionKey } from '../../src/release/version.ts';
import { readBody } from '../../src/retry/own-word.ts';
import { commandLine, message } from '../../src/text/layout.ts';
import { markdownFor } from '../../src/text/markdown.ts';
import { readMarkdown } from '../../src/text/reading.ts';
import { inertInLog } from '../../src/text/workflow-commands.ts';
import { publicUrl } from '../../src/webhooks/subscriptions/tunnel-url.ts';
import { cpuTimer } from '../cpu.ts';

// What reads texts from outside takes a time that grows with their length alone: no text, however odd, holds it up.

const many = (piece: string): string => piece.repeat(Math.ceil(200_000 / piece.length));

const asMarkdown = (text: string) => rstToMarkdown(text, { depth: 1, headings: [], targets: new Map() });

const reads: Readonly<Record<string, (text: string) => unknown>> = {
  'a title of reStructuredText': (text) => rstHeadings(`${text}\n====\n`),
  'a line of reStructuredText': asMarkdown,
  'a target of reStructuredText': rstTargets,
  'a field of a release': releaseFields,
  'the headings of Markdown': headingsOf,
  Markdown: readMarkdown,
  'a line below a heading': isUnreleasedLine,
  'a version': versionKey,
  'HTML that is compared': (text) => [spelled(text), unwrapped(text)],
  'a phone': (text) => isStoredPhone('1', text),
  'a duration': (text) => cellForPeople(text, 'duration'),
  JSON: readBody,
  'a text for a log': inertInLog,
  'a text for a report': plain,
  'a command line': (text) => commandLine(text, 80),
  'a message': (text) => message(text, 80),
  'what a tunnel prints': (text) => publicUrl(text, 80),
};

test.each([
  ['a title of reStructuredText', `\`${many(' ')}x`],
  ['a title of reStructuredText', many('::')],
  ['a line of reStructuredText', `\`${many(' ')}x`],
  ['a line of reStructuredText', many(':+')],
  ['a line of reStructuredText', `${many(' ')}x`],
  ['a line of reStructuredText', `:a:\`${many(' ')}x\``],
  ['a line of reStructuredText', `:a:\`${many('<')}\``],
  ['a target of reStructuredText', `.. _a:${many(' ')}x y`],
  ['a field of a release', `:a:${many(' ')}\r`],
  ['the headings of Markdown', many('*a_')],
  ['the headings of Markdown', many('**a ')],
  ['Markdown', many('*a_')],
  ['Markdown', many('[*a')],
  ['Markdown', many('*a *')],
  ['Markdown', many('](')],
  ['a line below a heading', `release${many('\t')}x\ny`],
  ['a version', `(${many('"')}x`],
  ['HTML that is compared', `<p${many(' ')}a>`],
  ['HTML that is compared', `x${many(' ')}x`],
  ['a phone', `${many('#')}\n#`],
  ['a duration', `P${many('.')}`],
  ['JSON', `[99999999999999999999.1${many('0')}1]`],
  ['a text for a log', many('\n')],
  ['a text for a report', many('\n')],
  ['a command line', `"${many('\\a')}`],
  ['a message', `${many(': svc ')}'`],
  ['a message', `${many(": svc 'a ")}"`],
  ['a message', many(': svc "')],
  ['a message', many("-a '")],
  ['what a tunnel prints', `https://a.test/${many('!')}x`],
] as const)('%s is read in time, however often a piece is repeated in it', { tags: ['long'] }, (name, text) => {
  const took = cpuTimer();
  try {
    reads[name]?.(text);
  } catch {
    // It may be refused.
  }
  expect(took()).toBeLessThan(4_000);
});

test('HTML whose blocks stand between spaces is compared without them, one behind the other', () => {
  expect(spelled('a  <p> b </p>  <p> c </p> d')).toBe('a<p>b</p><p>c</p>d');
  expect(unwrapped('<p>a</p>  \n  <p>b</p>')).toBe('a\nb');
});

test('seven hundred names in bold are read as such, and a line of any length in a block of code', () => {
  const names = Array.from({ length: 700 }, (_, at) => `**Name${at}**`).join(', ');
  const thanks = `Thanks to ${names}.`;
  expect(String(markdownFor(thanks).parse(thanks)).match(/<strong>/gu)).toHaveLength(700);
  const code = `\`\`\`json\n{"a": "${'*a_'.repeat(30_000)}"}\n\`\`\``;
  expect(readMarkdown(`${code}\n\n## 1.0.0`).join('\n')).toContain('1.0.0');
  expect(() => headingsOf(`\`\`\` \`\n${'*a_'.repeat(20_000)}`)).toThrow('too many marks');
});

test('a changelog with too many marks in one word is refused in plain words', () => {
  expect(() => headingsOf('*a_'.repeat(20_000))).toThrow('has too many marks in one word');
});
