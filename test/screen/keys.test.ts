import { expect, test } from 'vitest';
import { createKeyParser, type Key } from '../../src/screen/keys.ts';
import { fc } from '../chance.ts';

// Bytes of a terminal, and the keys that they are.

/** Ctrl and Alt as a person writes them: `C-a`, `M-up`. */
const named = ({ name, ctrl, alt }: Key): string => `${ctrl ? 'C-' : ''}${alt ? 'M-' : ''}${name}`;

function keysOf(...chunks: readonly (string | Uint8Array)[]): Key[] {
  const parser = createKeyParser();
  const keys = chunks.flatMap((chunk) => parser.feed(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
  return [...keys, ...parser.flush()];
}

const cases: readonly [string, string][] = [
  ['j', 'j'],
  ['G', 'G'],
  ['é', 'é'],
  ['日', '日'],
  ['😀', '😀'],
  [' ', 'space'],
  ['\r', 'enter'],
  ['\t', 'tab'],
  ['\x7f', 'backspace'],
  ['\x08', 'backspace'],
  ['\x00', 'C-space'],
  ['\x1a', 'C-z'],
  ['\x1f', 'C-_'],
  ['\x1b', 'escape'],
  ['\x1b\x1b', 'escape escape'],
  // Typed fast, or sent together by a slow line: neither is lost.
  ['\x1ba', 'escape a'],
  ['\x1bG', 'escape G'],
  ['\x1b\x7f', 'escape backspace'],
  ['\x1b\x1bj', 'escape escape j'],
  ['\x1b[', 'escape ['],
  ['\x1b[A', 'up'],
  ['\x1bOA', 'up'],
  ['\x1bOB\x1bOC\x1bOD', 'down right left'],
  ['\x1b[1;5C', 'C-right'],
  ['\x1b[1;3D', 'M-left'],
  ['\x1b\x1b[A', 'M-up'],
  ['\x1b[H\x1b[F', 'home end'],
  ['\x1b[1~\x1b[4~\x1b[7~\x1b[8~', 'home end home end'],
  ['\x1b[5~\x1b[6~', 'pageup pagedown'],
  ['\x1b[3~\x1b[2~', 'delete insert'],
  ['\x1b[Z', 'backtab'],
  ['\x1bOP\x1b[15~\x1b[24~', 'f1 f5 f12'],
  ['\x1bOM\x1bOq', 'enter 1'],
  // By code, where another program left that on.
  ['\x1b[27;5;106~', 'C-j'],
  ['\x1b[106;5u', 'C-j'],
  ['\x1b[27u', 'escape'],
  ['\x1b[13;2u', 'enter'],
  ['\x1b[9;2u', 'backtab'],
];

test.each(cases)('%j is %s', (bytes, keys) => {
  expect(keysOf(bytes).map(named).join(' ')).toBe(keys);
});

test.each(cases.filter(([bytes]) => !['\x1b', '\x1b\x1b'].includes(bytes)))(
  '%j in single bytes is the same',
  (bytes, keys) => {
    const bytewise = [...Buffer.from(bytes)].map((byte) => Uint8Array.of(byte));
    expect(
      keysOf(...bytewise)
        .map(named)
        .join(' '),
    ).toBe(keys);
  },
);

const swallowed: readonly string[] = [
  '\x1b[?1;2c',
  '\x1b[12;40R',
  '\x1b[>0;276;0c',
  '\x1b[I\x1b[O',
  '\x1b[<0;10;20M\x1b[<0;10;20m',
  '\x1b[M !!',
  '\x1b]11;rgb:0000/0000/0000\x07',
  '\x1b]11;rgb:0000/0000/0000\x1b\\',
  '\x1bP1$r0m\x1b\\',
  '\x1b_Gi=1;OK\x1b\\',
  '\x1b[[A',
  '\x1b[99~',
  '\x1b[201~',
  '\x1b[1;2;3;4;5;6z',
  '\x1b[57399u',
  '\x1b[?u',
  '\x1b[! p',
  '\u009b',
];

test.each(swallowed)('%j is no key, and the one after it is', (bytes) => {
  expect(keysOf(`${bytes}j`).map(named)).toEqual(['j']);
  const bytewise = [...Buffer.from(bytes)].map((byte) => Uint8Array.of(byte));
  expect(keysOf(...bytewise, 'j').map(named)).toEqual(['j']);
});

test('a sequence that another begins in is given up, and the other one is read', () => {
  expect(keysOf('\x1b[12\x1b[Aj').map(named)).toEqual(['up', 'j']);
  expect(keysOf('\x1b]0;title\x1b[Aj').map(named)).toEqual(['up', 'j']);
});

test('an answer without an end is forgotten after a while, and costs no memory without end', () => {
  const parser = createKeyParser();
  expect(parser.feed(Buffer.from('\x1b]11;rgb'))).toEqual([]);
  expect(parser.waitMs()).toBe(50);
  expect(parser.flush()).toEqual([]);
  expect(parser.feed(Buffer.from('j')).map(named)).toEqual(['j']);
  for (let at = 0; at < 100; at += 1) parser.feed(Buffer.from(`\x1b]${'x'.repeat(5000)}`));
  expect(parser.flush()).toEqual([]);
});

test('text says what was typed, and a key that types nothing has none', () => {
  expect(keysOf('é \x1b[A\x01\x1bx').map(({ text }) => text)).toEqual(['é', ' ', '', '', '', 'x']);
});

test('bytes that are no UTF-8 are one sign for what cannot be read', () => {
  expect(keysOf(Uint8Array.of(0xff, 0x6a)).map(named)).toEqual(['\ufffd', 'j']);
});

const paste = (text: string) => `\x1b[200~${text}\x1b[201~`;

test('a paste is one key, and none of what it holds is', () => {
  expect(keysOf(paste('q\re\x1b[A\x03 日本\tx\x1b]52;c;eA==\x07\r\nlast'))).toEqual([
    { name: 'paste', ctrl: false, alt: false, text: 'q\ne[A 日本\tx]52;c;eA==\nlast' },
  ]);
});

test('a paste that holds the end of a paste ends no sooner for it', () => {
  const [one, ...others] = keysOf('\x1b[200~safe\x1b[201~q\re\x1b[201~');
  expect(one?.text).toBe('safeq\ne');
  expect(others).toEqual([]);
});

test('a paste in single bytes is the same', () => {
  const bytewise = [...Buffer.from(paste('日本\nq'))].map((byte) => Uint8Array.of(byte));
  expect(keysOf(...bytewise)).toEqual([{ name: 'paste', ctrl: false, alt: false, text: '日本\nq' }]);
});

test('a paste whose end got lost, ends after five seconds without a byte', () => {
  const parser = createKeyParser();
  expect(parser.feed(Buffer.from('\x1b[200~half'))).toEqual([]);
  expect(parser.waitMs()).toBe(5000);
  expect(parser.flush().map(({ name, text }) => [name, text])).toEqual([['paste', 'half']]);
  expect(parser.waitMs()).toBeUndefined();
  expect(parser.feed(Buffer.from('j')).map(named)).toEqual(['j']);
});

test('a paste without end comes in parts, and loses nothing', () => {
  const parser = createKeyParser();
  parser.feed(Buffer.from('\x1b[200~'));
  const parts = Array.from({ length: 40 }, () => parser.feed(Buffer.from('x'.repeat(100_000)))).flat();
  expect(parts.length).toBeGreaterThan(2);
  const rest = parser.feed(Buffer.from('\x1b[201~'));
  expect([...parts, ...rest].map(({ text }) => text).join('')).toHaveLength(4_000_000);
});

test('whatever comes, in whatever parts, no key holds a control character, and j is heard after a while', () => {
  const junk = fc.oneof(
    fc.uint8Array({ maxLength: 12 }),
    fc
      .constantFrom('\x1b', '\x1b[', '\x1bO', '\x1b]0;', '\x1b[200~', '\x1b[20', '1~', '\x1b\\')
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(junk, { maxLength: 10 }), (chunks) => {
      const parser = createKeyParser();
      const keys = chunks.flatMap((chunk) => parser.feed(chunk));
      keys.push(...parser.flush());
      // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
      for (const { name, text } of keys) expect(name + text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/u);
      expect(parser.waitMs()).toBeUndefined();
      expect(parser.feed(Buffer.from('j')).map(named)).toEqual(['j']);
    }),
  );
});
