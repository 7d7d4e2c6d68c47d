import type { Agent } from 'node:http';
import { ticks } from '../ticks.ts';

/** A connection that is kept between requests: an agent of its own opens it, and opens another where it was closed. */
export type Line = {
  readonly agent: Agent;
  /** How many requests in a row this very connection has answered. */
  readonly answers: number;
  /** When it answered last. */
  readonly at: Moment;
};

/** In milliseconds. The steady clock never goes back; where the machine sleeps, only the wall clock goes on. */
type Moment = { readonly steady: number; readonly wall: number };

export type Lines = ReturnType<typeof lines>;

/** Servers close idle connections after 5 s or more; a request that meets the closing would be lost. */
const idleMs = 4_000;
/** A write may be lost for good, so for one it must be certain. */
const freshMs = 1_000;
/** Who closes after each answer does it at once: what stays open for so long is kept. */
const keptMs = 100;

/** The idle connections to one origin. */
export function lines(open: (idleMs: number) => Agent) {
  /** In the order in which they answered. */
  const idle: Line[] = [];
  return {
    /** For one request. A `write` gets a connection that the peer surely keeps open, or a new one. */
    async take(use: 'read' | 'write') {
      while (idle[0] && ageOf(idle[0]) > idleMs) idle.shift()?.agent.destroy();
      // A closing that has already arrived must be seen before its age is judged.
      if (use === 'write' && idle.length > 0) await turns();
      const at = use === 'read' ? idle.length - 1 : idle.findLastIndex(isKept);
      return idle.splice(at, at < 0 ? 0 : 1)[0] ?? { agent: open(idleMs), answers: 0, at: now() };
    },
    /** After a whole answer; a line that had none is dropped. `reused`: it came over a connection that had answered before. */
    giveBack({ agent, answers }: Line, { reused }: { readonly reused: boolean }) {
      idle.push({ agent, answers: reused ? answers + 1 : 1, at: now() });
    },
  };
}

function isKept(line: Line): boolean {
  const age = ageOf(line);
  return age < freshMs && (line.answers > 1 || age >= keptMs);
}

const now = (): Moment => ({ steady: ticks(), wall: Date.now() });

/** By the clock that says more: too old costs a new connection, too young could cost a write. */
const ageOf = ({ at }: Line): number => Math.max(ticks() - at.steady, Date.now() - at.wall);

/** Until whatever waits in the sockets has been read: a turn of the event loop that begins now looks at all of them. */
export async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
