// biome-ignore-all lint/suspicious/noControlCharactersInRegex: keys are sequences of them

/**
 * A key that was pressed, or a paste.
 *
 * `name`: the character itself (`a`, `G`, `?`, `é`), or `up` `down` `left` `right` `pageup` `pagedown` `home` `end`
 * `enter` `tab` `backtab` `escape` `backspace` `delete` `insert` `space` `f1`… `f12`, or `paste`. With `ctrl` a letter
 * is a small one. `text`: what was typed, as it goes into a field: empty for keys that type nothing; for a paste all
 * of it, lines ended by \n, without other control characters than tabs.
 */
export type Key = {
  readonly name: string;
  readonly ctrl: boolean;
  readonly alt: boolean;
  readonly text: string;
  /** It came in one piece with the key before: whoever pressed it has not seen what that one did. */
  readonly isAhead?: true;
};

/** An ESC is the key Escape where nothing follows it within this time. */
const escapeMs = 50;
/** A paste whose end got lost, ends after this time without a byte. */
const pasteMs = 5000;
/** A longer paste comes as several, so that it takes no memory without end. */
const longestPaste = 1 << 20;
/** Longer than any sequence that a terminal sends by itself. */
const longestSequence = 4096;

const pasteStart = '\x1b[200~';
const pasteEnd = '\x1b[201~';

/**
 * Bytes of a terminal in, keys out. A sequence may come in parts; what is not known is swallowed whole, and nothing
 * that is pasted is a key.
 */
export function createKeyParser() {
  let decoder = new TextDecoder();
  let pending = '';
  let pasted: string | undefined;

  const take = (): Key[] => {
    const keys: Key[] = [];
    for (;;) {
      if (pasted !== undefined) {
        pasted += pending;
        pending = '';
        const end = pasted.indexOf(pasteEnd);
        if (end < 0) {
          if (pasted.length > longestPaste) {
            keys.push(...pasteOf(pasted.slice(0, -pasteEnd.length)));
            pasted = pasted.slice(-pasteEnd.length);
          }
          return keys;
        }
        // Nobody types in the same moment: what comes with the end belongs to the paste, which may hold an end itself.
        keys.push(...pasteOf(pasted.replaceAll(pasteEnd, '').replaceAll(pasteStart, '')));
        pasted = undefined;
        return keys;
      }
      if (pending === '') return keys;
      const step = nextKey(pending);
      if (step === 'more') {
        if (pending.length > longestSequence) pending = '';
        return keys;
      }
      pending = pending.slice(step.length);
      if (step.length === pasteStart.length && step.key === 'paste') pasted = '';
      else if (typeof step.key === 'object') keys.push(step.key);
    }
  };

  return {
    feed(bytes: Uint8Array): Key[] {
      pending += decoder.decode(bytes, { stream: true });
      return take();
    },
    /** How long to wait for more before `flush`; undefined where nothing is half-way. */
    waitMs(): number | undefined {
      if (pasted !== undefined) return pasteMs;
      return pending === '' ? undefined : escapeMs;
    },
    /** Nothing more came: an ESC was the key, a paste has ended. */
    flush(): Key[] {
      decoder = new TextDecoder();
      const keys: Key[] = [];
      if (pasted !== undefined) {
        keys.push(...pasteOf(pasted));
        pasted = undefined;
      }
      const rest = pending;
      pending = '';
      return [...keys, ...unfinished(rest)];
    },
  };
}

/** What a beginning of a sequence was, when nothing followed: Escape, and the character behind it. */
function unfinished(rest: string): Key[] {
  if (rest === '\x1b') return [key('escape')];
  return rest.length === 2 && rest[0] === '\x1b' ? [key('escape'), ofCharacter(rest[1] ?? '')] : [];
}

const pasteOf = (text: string): Key[] => {
  const kept = text.replaceAll(/\r\n?/gu, '\n').replaceAll(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/gu, '');
  return kept === '' ? [] : [key('paste', kept)];
};

const key = (name: string, text = ''): Key => ({ name, ctrl: false, alt: false, text });

/** So many characters are read; undefined: and are no key. */
type Step = { readonly length: number; readonly key: Key | 'paste' | undefined };

const csi = /^\x1b{1,2}\[([\x30-\x3f]*)([\x20-\x2f]*)([\x40-\x7e])/u;
const unfinishedCsi = /^\x1b{1,2}\[[\x30-\x3f]*[\x20-\x2f]*$/u;
const ss3 = /^\x1b{1,2}O(\d*)([\x40-\x7e])/u;
const unfinishedSs3 = /^\x1b{1,2}O\d*$/u;
/** An answer or a message of the terminal: until ST, or until what ends every sequence. */
const message = /^\x1b[\]P_^X][^\x07\x1b\x18\x1a]*(?:\x07|\x1b\\|\x18|\x1a|(?=\x1b[^\\]))/u;
const unfinishedMessage = /^\x1b[\]P_^X][^\x07\x1b\x18\x1a]*\x1b?$/u;

function nextKey(text: string): Step | 'more' {
  if (text[0] !== '\x1b') {
    const character = String.fromCodePoint(text.codePointAt(0) ?? 0);
    // One half of a character beyond U+FFFF never comes alone out of UTF-8.
    return { length: character.length, key: isC1(character) ? undefined : ofCharacter(character) };
  }
  if (text === '\x1b' || text === '\x1b\x1b') return 'more';
  const sequence = csi.exec(text);
  if (sequence) return ofCsi(text, sequence);
  const application = ss3.exec(text);
  if (application) {
    const [whole, modifier = '', final = ''] = application;
    return { length: whole.length, key: modified(applicationKeys[final], modifier, whole) };
  }
  if (unfinishedCsi.test(text) || unfinishedSs3.test(text) || unfinishedMessage.test(text)) return 'more';
  const said = message.exec(text);
  if (said) return { length: said[0].length, key: undefined };
  const broken = /^\x1b{1,2}[[O][\x20-\x3f]*/u.exec(text);
  // A sequence in which something else begins is given up; what begins is read.
  if (broken) return { length: broken[0].length, key: undefined };
  // Alt with a character comes as Escape and the character; nothing listens to Alt, and who types fast loses neither.
  return { length: 1, key: key('escape') };
}

const isC1 = (character: string): boolean => character >= '\x80' && character <= '\x9f';

function ofCsi(text: string, [whole, parameters = '', between = '', final = '']: RegExpExecArray): Step | 'more' {
  const length = whole.length;
  // The function keys of the Linux console, and reports of a mouse in its oldest form: what follows belongs to them.
  const behind = (parameters === '' && behindIts[final]) || 0;
  if (behind > 0) return text.length < length + behind ? 'more' : { length: length + behind, key: undefined };
  if (between !== '' || /[^\d;:]/u.test(parameters)) return { length, key: undefined };
  const [first = '', second = '', third = ''] = parameters.split(';');
  if (final === '~' && first === '200') return { length, key: 'paste' };
  if (final === '~' && first === '27') return { length, key: modified(ofCode(Number(third)), second, whole) };
  if (final === '~') return { length, key: modified(numberedKeys[first], second, whole) };
  if (final === 'u') return { length, key: modified(ofCode(Number.parseInt(first, 10)), second, whole) };
  if (final === 'Z') return { length, key: key('backtab') };
  // Where the cursor is, ends like F3.
  const isKey = first === '' || first === '1';
  return { length, key: isKey ? modified(cursorKeys[final], second, whole) : undefined };
}

const behindIts: Readonly<Record<string, number>> = { '[': 1, M: 3 };

const keysBy = (names: Readonly<Record<string, string>>): Readonly<Record<string, Key | undefined>> =>
  Object.fromEntries(Object.entries(names).map(([code, name]) => [code, key(name)]));

const cursorKeys = keysBy({
  ...{ A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end', P: 'f1', Q: 'f2', R: 'f3', S: 'f4' },
});

const applicationKeys: Readonly<Record<string, Key | undefined>> = {
  ...cursorKeys,
  M: key('enter'),
  ...Object.fromEntries([...'0123456789'].map((digit, at) => [String.fromCharCode(0x70 + at), key(digit, digit)])),
};

const numberedKeys = keysBy({
  ...{ 1: 'home', 2: 'insert', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' },
  ...{ 11: 'f1', 12: 'f2', 13: 'f3', 14: 'f4', 15: 'f5', 17: 'f6', 18: 'f7', 19: 'f8', 20: 'f9', 21: 'f10' },
  ...{ 23: 'f11', 24: 'f12' },
});

/** The key of a character code, as terminals tell it that were asked for more than characters (by another program). */
function ofCode(code: number): Key | undefined {
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xf8ff);
  return isCharacter ? ofCharacter(String.fromCodePoint(code)) : undefined;
}

function modified(plain: Key | undefined, modifier: string, whole: string): Key | undefined {
  if (!plain) return undefined;
  const set = Math.max(0, Number.parseInt(modifier || '1', 10) - 1);
  const alt = (set & 2) !== 0 || whole.startsWith('\x1b\x1b');
  const ctrl = plain.ctrl || (set & 4) !== 0;
  if (plain.name === 'tab' && set === 1) return key('backtab');
  return { name: ctrl ? plain.name.toLowerCase() : plain.name, ctrl, alt, text: ctrl || alt ? '' : plain.text };
}

const controlNames: Readonly<Record<number, Key>> = {
  0: { ...key('space'), ctrl: true },
  8: key('backspace'),
  9: key('tab'),
  10: key('enter'),
  13: key('enter'),
  27: key('escape'),
  32: key('space', ' '),
  127: key('backspace'),
};

function ofCharacter(character: string): Key {
  const code = character.codePointAt(0) ?? 0;
  const named = controlNames[code];
  if (named) return named;
  if (code >= 32) return key(character, character);
  return { ...key(String.fromCharCode(code + (code <= 26 ? 0x60 : 0x40))), ctrl: true };
}
