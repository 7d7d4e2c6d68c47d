import { codeOf } from '../errors.ts';

/**
 * A terminal that went away answers every change of its modes with EIO. Node throws that out of an event that nobody can
 * catch, and aborts at its own end, where it sets the modes back. `hungUp`: not every shell passes the SIGHUP on.
 */
export function takeHangups(stdin: typeof process.stdin, hungUp: () => void): void {
  if (!stdin.isTTY) return;
  const set = stdin.setRawMode;
  stdin.setRawMode = (mode) => {
    try {
      return set.call(stdin, mode);
    } catch (error) {
      if (codeOf(error) !== 'EIO') throw error;
      hungUp();
      return stdin;
    }
  };
}

/**
 * At the end of the process: a terminal that went away is let go of, so that Node does not set its modes back. Its number
 * stays taken: whatever is opened after it must not become a standard stream. `wasTerminal`: by the number of its device.
 */
export function letGoOfLostTerminal(wasTerminal: (rdev: number) => boolean): void {
  const { closeSync, fstatSync, openSync } = process.getBuiltinModule('node:fs');
  for (const fd of [0, 1, 2]) {
    try {
      const found = fstatSync(fd);
      if (!found.isCharacterDevice() || !wasTerminal(found.rdev)) continue;
      if (process.getBuiltinModule('node:tty').isatty(fd)) continue;
      closeSync(fd);
      openSync('/dev/null', 'r+');
    } catch {
      // It is closed already.
    }
  }
}

/** By the numbers of Linux: a console, the controlling terminal, a pseudo-terminal. It stays one while it is lost. */
export function isTerminal(rdev: number): boolean {
  const major = (rdev >> 8) & 0xfff;
  return process.platform === 'linux' && (major === 4 || major === 5 || (major >= 136 && major <= 143));
}
