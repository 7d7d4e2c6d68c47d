import type { TerminalEvents, TerminalPort, TerminalSize } from '../../src/terminal-port.ts';

/** A terminal of the tests: notes what it is told, and its clock goes on by hand. */
export function fakeTerminal(first: TerminalSize = { columns: 20, rows: 4 }, env: TerminalPort['env'] = {}) {
  let size = first;
  let events: TerminalEvents | undefined;
  let isSlow = false;
  let written = '';
  let now = 0;
  let timers: { at: number; call: () => void }[] = [];
  let goOn = () => {};
  const calls: string[] = [];
  const port: TerminalPort = {
    env,
    size: () => size,
    listen(told) {
      events = told;
      return () => {
        events = undefined;
      };
    },
    takeInput: () => void calls.push('takeInput'),
    giveInput: () => void calls.push('giveInput'),
    write(text) {
      written += text;
      return !isSlow;
    },
    writeNow(text) {
      written += text;
    },
    lend() {
      calls.push('lend');
      return async () => void calls.push('modes put back');
    },
    interrupt: () => events?.ended('SIGINT'),
    stop() {
      calls.push('stop');
      return new Promise((resolve) => {
        goOn = resolve;
      });
    },
    after(ms, call) {
      const timer = { at: now + ms, call };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
  };
  return {
    port,
    calls,
    /** What was written since this was called last. */
    written() {
      const bytes = written;
      written = '';
      return bytes;
    },
    type: (text: string) => events?.input(Buffer.from(text)),
    bytes: (...bytes: number[]) => events?.input(Uint8Array.from(bytes)),
    resize(next: TerminalSize) {
      size = next;
      events?.resized();
    },
    slow() {
      isSlow = true;
    },
    drain() {
      isSlow = false;
      events?.drained();
    },
    pass(ms: number) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { call } of due) call();
    },
    goOn: () => goOn(),
    tell: () => events,
  };
}
