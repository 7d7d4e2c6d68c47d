import type { TerminalPort } from '../terminal-port.ts';
import { createKeyParser, type Key } from './keys.ts';

/** Keys as they come, also those of which only time tells that they are whole. */
export type Typing = {
  feed(bytes: Uint8Array): void;
  /** What came in half is no key any more. */
  forget(): void;
};

export function createTyping(terminal: TerminalPort, hear: (key: Key) => void): Typing {
  let parser = createKeyParser();
  let endWait = () => {};
  return {
    feed(bytes) {
      endWait();
      const current = parser;
      for (const key of current.feed(bytes)) hear(key);
      const ms = current === parser ? current.waitMs() : undefined;
      if (ms === undefined) return;
      endWait = terminal.after(ms, () => {
        for (const key of current.flush()) hear(key);
      });
    },
    forget() {
      endWait();
      parser = createKeyParser();
    },
  };
}
