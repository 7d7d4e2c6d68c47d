import type { TerminalPort, TerminalSize } from '../terminal-port.ts';
import { copyToClipboard, createCanvas, type Frame, giveModes, leaveOther, takeModes } from './canvas.ts';
import { createKeyParser, type Key } from './keys.ts';
import { hasWidths, loadWidths } from './width.ts';

export type { Frame, Line } from './canvas.ts';
export type { Key } from './keys.ts';

/** What a person and the system do. While the terminal is lent, only `ended` is called: not for a Ctrl-C there. */
export type ScreenEvents = {
  key(key: Key): void;
  /** There is another size, or emoji and marks can be measured exactly now: lay everything out, and draw. */
  resize(size: TerminalSize): void;
  /** The process goes on after Ctrl-Z and `fg`. The last frame is drawn already; time has passed. */
  resumed(): void;
  /**
   * The end; the terminal is given back already, or still lent. Ctrl-C is 'SIGINT'. `closed`: the terminal is gone.
   * Comes once, and not after `close`.
   */
  ended(reason: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'closed'): void;
};

export type Screen = ReturnType<typeof openScreen>;

/** What the screen is doing. `away`: the terminal is lent, or the process stopped. */
type State = 'drawing' | 'away' | 'closed';

/** What the parts of a screen share. */
type Held = {
  readonly terminal: TerminalPort;
  readonly events: ScreenEvents;
  readonly canvas: ReturnType<typeof createCanvas>;
  readonly typing: ReturnType<typeof createTyping>;
  state: State;
  size: TerminalSize;
};

/** Takes the terminal: the other screen, keys one by one. Whoever opens it closes it, whatever happens (`finally`). */
export function openScreen(terminal: TerminalPort, events: ScreenEvents) {
  const canvas = createCanvas(terminal);
  const typing = createTyping(terminal, (key) => hear(held, key));
  const held: Held = { terminal, events, canvas, typing, state: 'drawing', size: sizeOf(terminal) };
  const close = () => {
    if (held.state === 'drawing') give(held);
    held.state = 'closed';
    unlisten();
  };
  const unlisten = listen(held, close);
  take(held);
  return {
    /** In cells, at least 1 × 1. */
    size: () => held.size,
    /**
     * Shows the frame, by the fewest bytes; the same frame costs none. Where the terminal is slower than the frames,
     * those in between are left out, and the latest is always drawn.
     */
    draw: (frame: Frame) => draw(held, frame),
    /**
     * Gives the terminal back, runs the work (an editor), takes the terminal again in whatever state it was left, and
     * draws the latest frame, also one that came meanwhile. Ends as the work does.
     */
    lend: <T>(work: () => Promise<T>) => lend(held, work),
    /** Gives the terminal back and stops the process as Ctrl-Z does. Resolves after `fg`, drawn, before `resumed`. */
    suspend: () => suspend(held),
    /** Puts the text into the clipboard of the terminal (OSC 52), also inside tmux. Many terminals ask or refuse. */
    copy(text: string): void {
      if (held.state === 'drawing') canvas.send(copyToClipboard(text, (terminal.env.TMUX ?? '') !== ''));
    },
    /** Gives the terminal back for good. More than once is once. */
    close() {
      if (held.state !== 'closed') close();
    },
  };
}

function listen(held: Held, close: () => void): () => void {
  const { terminal, events, canvas, typing } = held;
  return terminal.listen({
    input(bytes) {
      if (held.state === 'drawing') typing.feed(bytes);
    },
    resized() {
      if (held.state === 'drawing') resize(held);
    },
    drained() {
      if (canvas.drained()) draw(held);
    },
    ended(reason) {
      if (held.state === 'closed') return;
      close();
      events.ended(reason);
    },
    // While it is lent, the other program stops the whole job.
    stopping: () => void (held.state === 'drawing' ? suspend(held) : terminal.stop()),
    continued() {
      // Stopped by who could not be answered (SIGSTOP): what stands on the screen is the shell's.
      if (held.state !== 'drawing') return;
      back(held);
      events.resumed();
    },
    exiting() {
      if (held.state !== 'closed') close();
    },
  });
}

function take({ terminal, canvas }: Held): void {
  terminal.takeInput();
  canvas.forget();
  canvas.send(takeModes);
}

function give({ terminal, typing }: Held): void {
  typing.forget();
  terminal.writeNow(giveModes);
  terminal.giveInput();
}

/** The terminal again, whatever happened to it, with the latest frame. */
function back(held: Held): void {
  held.state = 'drawing';
  take(held);
  resize(held);
  draw(held);
}

/** A terminal that does not tell its size (0 × 0, as some serial ones) has the usual one. */
function sizeOf(terminal: TerminalPort): TerminalSize {
  const { columns, rows } = terminal.size();
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 };
}

function resize(held: Held): void {
  const { columns, rows } = sizeOf(held.terminal);
  if (columns === held.size.columns && rows === held.size.rows) return;
  held.size = { columns, rows };
  layOut(held);
}

/** Everything again, laid out by who draws. */
function layOut(held: Held): void {
  held.canvas.redraw();
  held.events.resize(held.size);
  draw(held);
}

function draw(held: Held, frame?: Frame): void {
  const { canvas, size } = held;
  if (held.state !== 'drawing') {
    if (frame) canvas.keep(frame);
    return;
  }
  canvas.draw(size, frame);
  if (hasWidths() || !canvas.isUncertain()) return;
  void loadWidths().then((isFirst) => {
    if (isFirst && held.state === 'drawing') layOut(held);
  });
}

function hear(held: Held, key: Key): void {
  const { terminal, events, state } = held;
  if (state !== 'drawing') return;
  // As on every terminal, whoever has the keyboard: the rest is done by who hears of the signal.
  if (key.ctrl && key.name === 'c') terminal.interrupt();
  // Somebody else wrote on the screen: everything is drawn once more.
  else if (key.ctrl && key.name === 'l') layOut(held);
  else events.key(key);
}

async function suspend(held: Held): Promise<void> {
  if (held.state !== 'drawing') return;
  held.state = 'away';
  give(held);
  await held.terminal.stop();
  if (isClosed(held)) return;
  back(held);
  held.events.resumed();
}

/** It may have been closed during a wait. */
const isClosed = ({ state }: Held): boolean => state === 'closed';

async function lend<T>(held: Held, work: () => Promise<T>): Promise<T> {
  const { terminal, canvas } = held;
  if (held.state !== 'drawing') return work();
  held.state = 'away';
  give(held);
  const putModesBack = terminal.lend();
  let leftBehind = leaveOther;
  try {
    const result = await work();
    leftBehind = '';
    return result;
  } finally {
    await putModesBack();
    if (isClosed(held)) terminal.writeNow(leftBehind);
    else {
      canvas.send(leftBehind);
      back(held);
    }
  }
}

/** Keys as they come, also those of which only time tells that they are whole. */
function createTyping(terminal: TerminalPort, hear: (key: Key) => void) {
  let parser = createKeyParser();
  let endWait = () => {};
  return {
    feed(bytes: Uint8Array): void {
      endWait();
      const current = parser;
      for (const [at, key] of current.feed(bytes).entries()) hear(at === 0 ? key : { ...key, isAhead: true });
      const ms = current === parser ? current.waitMs() : undefined;
      if (ms === undefined) return;
      endWait = terminal.after(ms, () => {
        for (const key of current.flush()) hear(key);
      });
    },
    /** What came in half is no key any more. */
    forget(): void {
      endWait();
      parser = createKeyParser();
    },
  };
}
