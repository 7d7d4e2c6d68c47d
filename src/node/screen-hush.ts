import type { TerminalPort } from '../terminal-port.ts';

/**
 * While a full screen has the terminal nothing else is written on it: notes wait until it is given back. `clear`: takes
 * away what stands there when it is taken.
 */
export function screenHush(clear: () => void) {
  let taken = false;
  let waiting: (() => void)[] = [];
  return {
    isTaken: () => taken,
    later(say: () => void): void {
      waiting.push(say);
    },
    over: (terminal: TerminalPort): TerminalPort => ({
      ...terminal,
      takeInput() {
        clear();
        taken = true;
        terminal.takeInput();
      },
      giveInput() {
        terminal.giveInput();
        taken = false;
        const all = waiting;
        waiting = [];
        for (const say of all) say();
      },
    }),
  };
}
