import type { Write, Writes } from '../../context.ts';
import { runAgain } from '../../disk/lock/lock-hold.ts';
import { Failure, type FailureKind, isInterruption, nothingChanged, runSameAgain } from '../../errors.ts';
import { uncapital } from '../../text/capital.ts';
import { firstOf } from '../../text/first-of.ts';
import { listed } from '../../text/listed.ts';

/** How much of a command was done before it stopped. */
export type DoneSoFar = { readonly done: number; readonly unknown: number };

/**
 * The kind of a failure that ends a command of several requests: what its exit code claims is about all of them. What
 * fails on this machine (a disk, a lock, a file that changed) stays `failed`, which claims nothing.
 */
export function kindOfWhole({ kind, status }: Failure, { done, unknown }: DoneSoFar): FailureKind {
  if (kind === 'unknown' || isInterruption({ kind })) return kind;
  if (unknown > 0) return 'unknown';
  const isOwn = kind === 'failed' && status === undefined;
  return done > 0 && !isOwn ? 'partial' : kind;
}

/**
 * The failure of one request as that of its command: with what was done before it, what is not known, and how to do the
 * rest. The same where nothing was done.
 */
export function wholeFailure(failure: Failure, writes: Writes | undefined): Failure {
  if (!writes || failure.isWhole) return failure;
  const { done, unknown } = writes;
  // The latest one is told by the failure itself.
  const others = failure.isUnsure ? unknown.slice(0, -1) : unknown;
  if (done.length === 0 && others.length === 0) return failure;
  const message = [
    withoutClaim(failure.message),
    ...(done.length > 0 ? [`Before that, ${inWords(done, isDone)}.`] : []),
    ...(others.length > 0 ? [`It is not known: ${inWords(others, mayBeDone)}.`] : []),
  ].join(' ');
  return new Failure(kindOfWhole(failure, { done: done.length, unknown: unknown.length }), message, {
    ...failure,
    // Where all of it is done, and only its output was lost, there is no rest.
    hint: (failure.done && others.length === 0 && failure.hint) || hintOf(failure, writes),
    ...(done.length > 0 && { done: [...new Set(done.flatMap((write) => write.ids()))] }),
    isWhole: true,
    cause: failure,
  });
}

function hintOf({ hint, kind }: Failure, { done, unknown, rest }: Writes): string {
  const own = hint === undefined ? '' : withoutAdvice(withoutClaim(hint));
  if (rest !== undefined) return [kind === 'unknown' ? '' : own, rest].filter(Boolean).join('\n');
  const all = [...done, ...unknown];
  const lookHints = new Set(all.map(({ lookHint }) => lookHint));
  const again = all.every(({ isRepeatable }) => isRepeatable)
    ? 'It is safe to run the command again: repeating it changes nothing more.'
    : 'Do not run the command again blindly.';
  // A command ends its line.
  return [kind === 'unknown' ? '' : own, `${again} ${[...lookHints].join('\n')}`].filter(Boolean).join('\n');
}

/** Of a command that only reads, nobody expects that it changed something. */
export const ofReader = (failure: Failure): Failure =>
  new Failure(failure.kind, withoutClaim(failure.message), {
    ...failure,
    hint: failure.hint === undefined ? undefined : withoutClaim(failure.hint),
    cause: failure,
  });

const claims = [nothingChanged, 'Nothing was sent now.', 'Nothing was sent.'];

/** It was true of the one request. */
export const withoutClaim = (text: string): string =>
  claims
    .reduce((rest, claim) => rest.replace(claim, ''), text)
    .replaceAll(/ {2,}/gu, ' ')
    .trim();

/** What comes behind it says how the command goes on. */
export const withoutAdvice = (text: string): string => text.replace(runAgain, '').replace(runSameAgain, '').trim();

/** So many ids are named. */
const mostNamed = 10;

/** "the entry was created (id 12) and the ticket was changed (ids 41, 42)" */
function inWords(writes: readonly Write[], tell: (write: Write) => string): string {
  const ids = new Map<string, number[]>();
  for (const write of writes) {
    const told = tell(write);
    ids.set(told, [...(ids.get(told) ?? []), ...write.ids()]);
  }
  return listed(
    [...ids].map(([told, all]) =>
      all.length > 0 ? `${told} (${all.length === 1 ? 'id' : 'ids'} ${firstOf(all, mostNamed)})` : told,
    ),
  );
}

const isDone = ({ of, done }: Write): string =>
  `${uncapital(of)} ${/^\S+ \w+[^s\W]s\b/u.test(of) ? 'were' : 'was'} ${done}`;

const mayBeDone = ({ of, done }: Write): string => `${uncapital(of)} may or may not have been ${done}`;
