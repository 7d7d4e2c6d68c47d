/**
 * What must not reach a terminal as it is: C0, DEL and C1 (so every escape sequence), everything that reorders text,
 * everything that takes no room, and halves of characters.
 */
const suspicious = (): RegExp =>
  /[\p{Cc}\p{Cs}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\uFFF9-\uFFFB]/gu;

/**
 * Latin text, with its accents, and what frames and marks are drawn with: it needs no closer look. V8 takes 2 ms to read the
 * classes of Unicode in this file, so they stand in functions, and most runs call none.
 */
const ordinary = /^[\x20-\x7e\xa0-\xac\xae-\u034e\u2010-\u2027\u2030-\u205e\u2190-\u2bff]*$/u;

type Options = {
  /** Text of several lines stays so; otherwise a line end is shown as ↵. */
  readonly keepNewlines?: boolean;
};

/**
 * Makes control characters visible: ESC as `^[`, a right-to-left override as `<U+202E>`. Joiners and selectors stay
 * where emoji and joining scripts need them. Also applied to piped rows.
 */
export function sanitize(text: string, { keepNewlines = false }: Options = {}): string {
  if (ordinary.test(text)) return text;
  return text.replaceAll('\r\n', '\n').replace(suspicious(), (char, at: number, whole: string) => {
    if (char === '\n') return keepNewlines ? char : '↵';
    if (char === '\t') return keepNewlines ? '    ' : ' ';
    return belongs(char, at, whole) ? char : visible(char);
  });
}

function visible(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20 || code === 0x7f) return `^${String.fromCharCode(code ^ 0x40)}`;
  if (code >= 0xd800 && code <= 0xdfff) return '\uFFFD';
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
}

const pictureBefore = (): RegExp => /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier})\uFE0F?$/u;
const pictureAfter = (): RegExp => /^\p{Extended_Pictographic}/u;
const flagBefore = /\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{0,6}$/u;
const flagAfter = /^[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{0,6}\u{E007F}/u;
const joining = (): RegExp =>
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]$/u;

/** What a joiner, a selector or a tag of a flag is. */
const mayBelong = (): RegExp =>
  /[\p{Join_Control}\p{Variation_Selector}\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}\u{E007F}]/u;

/** An invisible character that writing needs: inside an emoji, or between letters that join. */
function belongs(char: string, at: number, whole: string): boolean {
  if (!mayBelong().test(char)) return false;
  // A bounded look, so that a text of nothing but joiners costs no square.
  const before = whole.slice(Math.max(0, at - 16), at);
  const after = whole.slice(at + char.length, at + 18);
  if (char === '\u200D' && pictureBefore().test(before) && pictureAfter().test(after)) return true;
  if (char === '\u200C' || char === '\u200D') return joining().test(before);
  if (/^[\uFE00-\uFE0F]$/u.test(char)) return /[\p{L}\p{N}\p{S}\p{P}]$/u.test(before);
  if (/^[\u{E0100}-\u{E01EF}]$/u.test(char)) return /\p{Script=Han}$/u.test(before);
  return flagBefore.test(before) && flagAfter.test(char + after);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: our own colours begin with ESC
const ownColours = /(\x1b\[[\d;]*m)/u;

/** The last look at a whole screen or note of ours on its way to a terminal: only colours are obeyed. */
export const onlyColours = (text: string): string =>
  text
    .split(ownColours)
    .map((part, at) => (at % 2 === 1 ? part : sanitize(part, { keepNewlines: true })))
    .join('');

const unsafeInJson = (): RegExp =>
  /(?![\n\p{Join_Control}\p{Variation_Selector}])[\p{Cc}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\uFFF9-\uFFFB]/gu;

/** JSON as exact as ever, yet harmless on a terminal, and in the log of a CI runner that obeys `##[command]` anywhere. */
export function toJson(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value, undefined, indent) ?? 'null').replaceAll('##[', '#\\u0023[');
}

/** Writes as \uXXXX, which is the same value, what JSON and YAML leave raw inside quotes. */
export function escapeUnsafe(quoted: string): string {
  if (ordinary.test(quoted)) return quoted;
  return quoted.replace(unsafeInJson(), (char) =>
    Array.from({ length: char.length }, (_, unit) => escaped(char.charCodeAt(unit))).join(''),
  );
}

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
