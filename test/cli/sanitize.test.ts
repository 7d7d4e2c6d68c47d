import { describe, expect, test } from 'vitest';
import { sanitize, toJson } from '../../src/text/sanitize.ts';
import { anyText, fc } from '../chance.ts';
import { cpuTimer } from '../cpu.ts';

describe('text from customers', () => {
  test.each([
    ['plain text is unchanged', 'Where is my order?', 'Where is my order?'],
    ['a colour sequence is shown', 'a\x1b[31mb', 'a^[[31mb'],
    ['a window title is shown', '\x1b]0;owned\x07', '^[]0;owned^G'],
    ['a link (OSC 8) is shown', '\x1b]8;;http://x\x1b\\y', '^[]8;;http://x^[\\y'],
    ['the clipboard (OSC 52) is shown', '\x1b]52;c;aGk=\x07', '^[]52;c;aGk=^G'],
    ['a one-byte sequence start (C1) is shown', '\x9b2J', '<U+009B>2J'],
    ['delete is shown', 'a\x7f', 'a^?'],
    ['a carriage return cannot overwrite the line', 'safe\rEVIL', 'safe^MEVIL'],
    ['an override cannot reorder', 'a\u202Eexe.cod', 'a<U+202E>exe.cod'],
    ['an isolate cannot reorder', '\u2066x\u2069', '<U+2066>x<U+2069>'],
    ['a direction mark is shown', 'a\u200Fb', 'a<U+200F>b'],
    ['zero-width space does not hide', 'pass\u200Bword', 'pass<U+200B>word'],
    ['a joiner between letters does not hide', 'a\u200Db', 'a<U+200D>b'],
    ['tag characters do not hide a message', '\u{E0068}\u{E0069}', '<U+E0068><U+E0069>'],
    ['a line separator is shown', 'a\u2028b', 'a<U+2028>b'],
    ['half a character is replaced', 'a\ud83d', 'a\uFFFD'],
    ['a line end stays in one line', 'a\nb\r\nc', 'a↵b↵c'],
    ['emoji families stay whole', '👨‍👩‍👧 hi', '👨‍👩‍👧 hi'],
    ['a heart keeps its colour', '❤️', '❤️'],
    ['a country of a flag stays', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['Persian keeps its non-joiner', 'می‌خواهم', 'می‌خواهم'],
    ['Hindi keeps its joiner', 'क्‍ष', 'क्‍ष'],
    ['accents made of two characters stay', 'e\u0301', 'e\u0301'],
  ])('%s', (_, text, shown) => {
    expect(sanitize(text)).toBe(shown);
  });

  test('letters with their accents, dashes, arrows and frames are unchanged, what hides or obeys among them is not', () => {
    const hidden = /[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/u;
    const shown = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
    expect(shown.filter((char) => sanitize(char) !== char)).toEqual(shown.filter((char) => hidden.test(char)));
    expect(toJson('naïve\u00adpass\u034f')).toBe('"naïve\\u00adpass\\u034f"');
  });

  test('several lines stay lines where they may, and tabs take a fixed room', () => {
    expect(sanitize('a\r\n\tb\x1b', { keepNewlines: true })).toBe('a\n    b^[');
  });

  test('a selector without a picture does not keep the joiner behind it', () => {
    const said = sanitize('\uFE0F\u200D\u{1F600}');
    expect(said).toBe('<U+FE0F><U+200D>\u{1F600}');
    expect(sanitize(said)).toBe(said);
    expect(sanitize('\u2764\uFE0F\u200D\u{1F525}')).toBe('\u2764\uFE0F\u200D\u{1F525}');
  });

  test('whatever a customer writes, nothing that a terminal obeys is left, and saying it twice changes nothing', {
    tags: ['long'],
  }, () => {
    const nasty = fc.constantFrom(
      '\x1b[2J',
      '\x9b',
      '\u202E',
      '\u200B',
      '\u200D',
      '\uFE0F',
      '\r',
      '\n',
      '\x07',
      '😀',
      'ا',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(nasty, anyText())), (parts) => {
        const shown = sanitize(parts.join(''));
        expect(shown).not.toMatch(/[\p{Cc}\p{Cs}\p{Bidi_Control}\u200B\p{Zl}\p{Zp}]/u);
        expect(sanitize(shown)).toBe(shown);
      }),
    );
  });

  test('a text of nothing but joiners is no work', () => {
    const computed = cpuTimer();
    sanitize('\u200D'.repeat(20_000));
    expect(computed()).toBeLessThan(1_000);
  });
});

describe('JSON', () => {
  test('is exact, and yet harmless on a terminal', { tags: ['long'] }, () => {
    fc.assert(
      fc.property(fc.array(anyText()), (value) => {
        const json = toJson(value, 2);
        expect(JSON.parse(json)).toEqual(value);
        expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u200B]/u);
      }),
    );
  });

  test('of nothing is null', () => {
    expect(toJson(undefined)).toBe('null');
  });
});
