import type { AppendLog } from '../../../disk/log/append-log.ts';
import type { Span } from '../../../disk/log/log-file.ts';
import { type Arrival, type InboxLine, lineIn, type Outcome } from '../line.ts';
import { hashOf, type Kind, startsIn } from './entries.ts';
import { placesOf, suspects } from './index-file.ts';
import { keyOf, type State, twinOf, wayOf } from './state.ts';

/** A delivery with what became of it. */
export type Received = { readonly arrival: Arrival; readonly outcomes: readonly Outcome[] };

/** What is not where it should be is searched for in the whole file before it is believed to be lost. */
export async function read(log: AppendLog, state: State, id: string): Promise<Received | undefined> {
  for (let isSure = false; ; ) {
    const found = state.places.get(id);
    if (!found) return readByIndex(log, state, id);
    const received = receivedIn(id, await log.read([found.line, ...found.marks]));
    if (received || isSure) return received;
    isSure = await findAgain(log, state, id);
  }
}

/** False where the file was replaced meanwhile: then its place is another again. */
async function findAgain(log: AppendLog, state: State, id: string): Promise<boolean> {
  const { holds, line, marks } = await spansOf(log, id);
  const known = state.places.get(id);
  if (holds && line && known) state.places.set(id, { ...known, line, marks });
  if (state.rewriting) state.rewriting.isStale = true;
  return holds;
}

async function spansOf(log: AppendLog, id: string) {
  let line: Span | undefined;
  let marks: Span[] = [];
  const holds = await log.scan((text, span) => {
    const seen = lineIn(text);
    if (seen?.kind === 'arrival' && seen.arrival.id === id) [line, marks] = [span, []];
    if (seen?.kind === 'outcome' && seen.id === id) marks.push(span);
  });
  return { holds, line, marks };
}

function receivedIn(id: string, texts: readonly (Buffer | undefined)[]): Received | undefined {
  const [first, ...marks] = texts.map(lineIn);
  if (first?.kind !== 'arrival' || first.arrival.id !== id) return undefined;
  return {
    arrival: first.arrival,
    outcomes: marks.flatMap((mark) => (mark?.kind === 'outcome' && mark.id === id ? [mark.outcome] : [])),
  };
}

/** Whether the index has to be asked before it is known that nothing of this delivery is there. */
export function maybeIndexed({ index }: State, arrival: Arrival): boolean {
  if (!index) return false;
  const twin = twinOf(arrival);
  return suspects(index, arrival.id) || (twin !== undefined && (wayOf(twin) === 'live' || suspects(index, twin)));
}

/** Whether it was received already, or the same event the other way. */
export async function isIndexed(log: AppendLog, state: State, arrival: Arrival): Promise<boolean> {
  if (await readByIndex(log, state, arrival.id)) return true;
  const twin = twinOf(arrival);
  return twin !== undefined && (await hasHappened(log, state, twin));
}

const hasHappened = (log: AppendLog, state: State, key: string): Promise<boolean> =>
  steady(state, async () => {
    const isIt = (line: InboxLine | undefined) => line?.kind === 'arrival' && keyOf(line.arrival) === key;
    const found = await linesFor(log, state, { kind: wayOf(key), text: key });
    if (found) return found.some(({ line }) => isIt(line));
    let isThere = false;
    await log.scan((text) => {
      isThere ||= isIt(lineIn(text));
    });
    return isThere;
  });

const readByIndex = (log: AppendLog, state: State, id: string): Promise<Received | undefined> =>
  steady(state, async () => {
    const found = await linesFor(log, state, { kind: 'arrival', text: id });
    if (found?.length === 0) return undefined;
    const marks = found && (await linesFor(log, state, { kind: 'outcome', text: id }));
    const last = found?.findLast(({ line }) => line.kind === 'arrival' && line.arrival.id === id);
    if (!found || !marks) {
      const { line, marks } = await spansOf(log, id);
      return line && receivedIn(id, await log.read([line, ...marks]));
    }
    if (last?.line.kind !== 'arrival') return undefined;
    const outcomes = marks.flatMap(({ line, start }) =>
      line.kind === 'outcome' && line.id === id && start > last.start ? [line.outcome] : [],
    );
    return { arrival: last.line.arrival, outcomes };
  });

/** Once more where the file was rewritten meanwhile: then the places were those of the other one. */
async function steady<T>(state: State, look: () => Promise<T>): Promise<T> {
  for (;;) {
    const { index } = state;
    const found = await look();
    if (state.index === index) return found;
  }
}

type Wanted = { readonly kind: Kind; readonly text: string };
type At = { readonly start: number; readonly line: InboxLine };

/** Undefined where the index cannot be relied on: it is damaged, or leads to lines that it was not made of. */
async function linesFor(log: AppendLog, state: State, { kind, text }: Wanted): Promise<At[] | undefined> {
  const { index } = state;
  const indexed = index ? await placesOf(index, kind, text) : [];
  const lines: At[] = [];
  for (const start of indexed ? [...indexed, ...startsIn(state.entries, kind, text)] : []) {
    const line = lineIn((await log.line(start))?.text);
    // Another one with the same 32 bits is none that was moved.
    if (line && hasHash(line, kind, text)) lines.push({ start, line });
    else if (state.index === index) return doubt(state);
  }
  return indexed ? lines : doubt(state);
}

function doubt(state: State): undefined {
  state.isDoubtful = true;
  return undefined;
}

function hasHash(line: InboxLine, kind: Kind, text: string): boolean {
  const name = nameOf(line, kind);
  return name !== undefined && hashOf(name) >>> 0 === hashOf(text) >>> 0;
}

function nameOf(line: InboxLine, kind: Kind): string | undefined {
  if (line.kind === 'limit') return undefined;
  if (line.kind === 'outcome') return kind === 'outcome' ? line.id : undefined;
  if (kind === 'arrival') return line.arrival.id;
  return kind === 'outcome' ? undefined : keyOf(line.arrival);
}
