/**
 * What the screen is given, in this order: every mode that another program may have left behind is put back first
 * (scroll region, origin, insert, character set, mouse, focus, application keys, keys by code), then come the ones that
 * are wanted: the other screen, no wrapping, pastes in brackets, no cursor.
 */
export const takeModes = [
  '\x1b[?1049h',
  '\x1b[r\x1b[?6l\x1b[4l\x1b(B\x0f\x1b[m',
  '\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l',
  '\x1b[?1l\x1b>\x1b[>4m\x1b[=0u',
  '\x1b[?7l\x1b[?2004h\x1b[?25l',
].join('');

/** The reverse. A half-written frame that was held back is shown first, so that nothing hides what comes. */
export const giveModes = '\x1b[?2026l\x1b[m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l';

/** What a program leaves on that was ended in the middle: the screen it was on, and everything of `takeModes`. */
export const leaveOther = '\x1b[?2026l\x1b[?1049l';

/** A terminal that knows it shows everything in between at once (DEC 2026). */
export const atOnce = (bytes: string): string => `\x1b[?2026h${bytes}\x1b[?2026l`;

export const clearScreen = '\x1b[m\x1b[H\x1b[2J';

/**
 * Puts a text into the clipboard of the terminal, also of one at the far end of ssh (OSC 52). tmux takes either of the
 * two, by its settings `set-clipboard` and `allow-passthrough`.
 */
export function copyToClipboard(text: string, isInTmux: boolean): string {
  const sequence = `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
  return isInTmux ? `${sequence}\x1bPtmux;${sequence.replaceAll('\x1b', '\x1b\x1b')}\x1b\\` : sequence;
}
