import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { appendLines } from '../../disk/append-lines.ts';
import { readIfThere, replaceFile } from '../../disk/atomic-file.ts';
import { diskFailure } from '../../disk/disk-failure.ts';
import { tryLock } from '../../disk/lock.ts';
import { Failure } from '../../errors.ts';
import { hexDigestOf } from '../../text/digest.ts';
import { fieldsIn } from '../../text/record.ts';

/**
 * What became of a command for one profile. `begun`: svc was ended before it knew. `waiting`: it was never begun.
 */
export type Outcome = number | 'begun' | 'waiting';

/** What became of the same command the last time, profile by profile, in a file of the state folder. */
export type RunRecord = {
  readonly last: ReadonlyMap<string, Outcome>;
  begin(profile: string): Promise<void>;
  end(profile: string, exitCode: number): Promise<void>;
  release(): Promise<void>;
};

type Wanted = { readonly words: readonly string[]; readonly profiles: readonly string[]; readonly goesOn: boolean };

/**
 * `goesOn`: what is known of the last run stays; else it begins empty, with all of `profiles` waiting.
 *
 * @throws Failure `failed` where the same command is at work in another process
 */
export async function openRecord(ctx: Context, { words, profiles, goesOn }: Wanted): Promise<RunRecord> {
  // A text in the command may be for one customer's eyes: only its digest names the file.
  const path = join(ctx.files.state, 'each', `${hexDigestOf(JSON.stringify(words)).slice(0, 24)}.jsonl`);
  const orDisk = (error: unknown): never => {
    throw diskFailure(error, 'What is done for each account could not be noted, so nothing was begun');
  };
  const held = await tryLock(`${path}.lock`, { what: 'svc each' }).catch(orDisk);
  if (!held) {
    throw new Failure('failed', 'The same command is at work for each account in another svc.', {
      hint: 'Wait for it, or end it.',
    });
  }
  try {
    if (!goesOn) {
      await replaceFile(path, `${JSON.stringify({ waiting: profiles })}\n`).catch(orDisk);
    }
    const last = outcomesIn((await readIfThere(path)) ?? '');
    const note = (fields: object) => appendLines(path, [JSON.stringify(fields)]);
    return {
      last,
      begin: (profile) => note({ profile }),
      end: (profile, exitCode) => note({ profile, exit_code: exitCode }),
      release: held.release,
    };
  } catch (error) {
    await held.release();
    throw error;
  }
}

function outcomesIn(text: string): Map<string, Outcome> {
  const found = new Map<string, Outcome>();
  for (const line of text.split('\n')) {
    const { waiting, profile, exit_code: exitCode } = fieldsOf(line);
    if (Array.isArray(waiting)) for (const name of waiting) found.set(String(name), 'waiting');
    if (typeof profile === 'string') found.set(profile, typeof exitCode === 'number' ? exitCode : 'begun');
  }
  return found;
}

/** A line that a crash has cut is none. */
function fieldsOf(line: string) {
  try {
    return fieldsIn(JSON.parse(line));
  } catch {
    return {};
  }
}

/** Exit codes after which nothing was done for certain. 8 is a part, 9 and what a signal ended is unknown. */
const surelyFailed: readonly Outcome[] = ['waiting', 1, 2, 3, 4, 5, 6, 7, 10];

/** 11 is an answer: `--check` found differences. */
const isDone = (outcome: Outcome | undefined): boolean => outcome === undefined || outcome === 0 || outcome === 11;

export const surelyNot = (outcome: Outcome | undefined): boolean =>
  outcome !== undefined && surelyFailed.includes(outcome);

/** Neither done nor surely not done. */
export const isUnsure = (outcome: Outcome | undefined): boolean => !isDone(outcome) && !surelyNot(outcome);
