import { join } from 'node:path';
import type { Context } from '../../context.ts';
import { readIfThere, replaceFile } from '../../disk/file/atomic-file.ts';
import { diskFailure } from '../../disk/file/disk-failure.ts';
import { removeFile } from '../../disk/file/folder.ts';
import { tryLock } from '../../disk/lock/lock.ts';
import { appendLines } from '../../disk/log/append-lines.ts';
import { orElsewhere } from '../../disk/place/elsewhere.ts';
import { exitCodes, Failure } from '../../errors.ts';
import { hexDigestOf } from '../../text/digest.ts';
import { jsonIn } from '../../text/json.ts';
import { fieldsIn } from '../../text/record.ts';
import type { Login } from './chosen.ts';

/** What became of a command for one profile. `begun`: svc was ended before it knew. `waiting`: it was never begun. */
type Outcome = number | 'begun' | 'waiting';

/** `of`: the account that the profile logged in to then. `isSure`: exit 1, which may come after a write, came before any. */
type Noted = { readonly outcome: Outcome; readonly of: string | undefined; readonly isSure?: boolean };

/** What became of the same command the last time, profile by profile, in a file of the state folder. */
export type RunRecord = Awaited<ReturnType<typeof openRecord>>;

type Wanted = {
  readonly words: readonly string[];
  /** The same for each form of the same command. */
  readonly knownBy: readonly string[];
  readonly logins: readonly Login[];
  readonly goesOn: boolean;
  /** Else whatever failed may be run again. */
  readonly isWrite: boolean;
};

/**
 * `goesOn`: what is known of all of them stays; else each of `logins` is noted as waiting, and what is known of other
 * profiles stays.
 *
 * @throws Failure `failed` where the same command is at work in another process
 */
export async function openRecord(ctx: Context, { words, knownBy, logins, goesOn, isWrite }: Wanted) {
  const [path, former] = [placeOf(ctx, knownBy), placeOf(ctx, words)];
  const orDisk = (error: unknown): never => {
    const what = 'What is done for each account could not be noted, so nothing was begun';
    throw diskFailure(error, what, orElsewhere());
  };
  const held = await tryLock(`${path}.lock`, { what: 'svc each' }).catch(orDisk);
  if (!held) {
    throw new Failure('failed', 'The same command is at work for each account in another svc.', {
      hint: 'Wait for it, or end it.',
    });
  }
  try {
    await takeOver(former, path).catch(orDisk);
    const last = notedIn((await readIfThere(path)) ?? '', isWrite);
    if (!goesOn) {
      for (const { profile, of } of logins) last.set(profile, { outcome: 'waiting', of });
      const lines = [...last].map(([profile, noted]) => `${lineOf(profile, noted)}\n`);
      await replaceFile(path, lines.join('')).catch(orDisk);
    }
    const note = ({ profile, of }: Login, outcome: Outcome, isSure?: boolean) =>
      appendLines(path, [lineOf(profile, { outcome, of, isSure })]);
    return {
      last,
      begin: (login: Login) => note(login, 'begun'),
      /** `isSure`: it ended before anything was done. */
      end: note,
      release: held.release,
    };
  } catch (error) {
    await held.release();
    throw error;
  }
}

/** A text in the command may be for one customer's eyes: only its digest names the file. */
const placeOf = ({ files }: Context, words: readonly string[]): string =>
  join(files.state, 'each', `${hexDigestOf(JSON.stringify(words)).slice(0, 24)}.jsonl`);

/** Version 0.1.0 knew a command by its words as they stood. */
async function takeOver(former: string, path: string): Promise<void> {
  if (former === path || (await readIfThere(path)) !== undefined) return;
  const text = await readIfThere(former);
  if (text === undefined) return;
  await replaceFile(path, text);
  await removeFile(former);
}

const lineOf = (profile: string, { outcome, of, isSure }: Noted): string =>
  JSON.stringify({ profile, of, outcome, ...(isSure && { sure: true }) });

function notedIn(text: string, isWrite: boolean): Map<string, Noted> {
  const found = new Map<string, Noted>();
  for (const line of text.split('\n')) {
    // A line that a crash has cut is none.
    const { profile, outcome, of, sure } = fieldsIn(jsonIn(line));
    if (typeof profile !== 'string') continue;
    const isKnown = typeof outcome === 'number' || outcome === 'waiting';
    const isSure = sure === true || !isWrite;
    found.set(profile, { outcome: isKnown ? outcome : 'begun', of: typeof of === 'string' ? of : undefined, isSure });
  }
  return found;
}

/** After these nothing was done for certain. 8 is a part, 9 and what a signal ended is unknown, 1 has to be told. */
const surelyFailed: readonly Outcome[] = ['waiting', 2, 3, 4, 5, 6, 7, 10];

/** 11 is an answer: `--check` found differences. */
const isDone = (outcome: Outcome | undefined): boolean => outcome === undefined || outcome === 0 || outcome === 11;

const surelyNot = (noted: Noted | undefined): boolean =>
  noted !== undefined &&
  (surelyFailed.includes(noted.outcome) || (noted.outcome === exitCodes.failed && noted.isSure === true));

/** A profile for which the command is not run again, with why; `code`: how it ended the last time. */
export type Left = { readonly profile: string; readonly why: string; readonly code: number };

/** For whom the command is run again, and for whom not. `gone`: profiles that are not saved any more. */
export function againFor(last: RunRecord['last'], logins: readonly Login[], gone: readonly string[]) {
  const left = (profile: string, why?: string): Left => {
    const outcome = last.get(profile)?.outcome;
    const said = typeof outcome === 'number' ? `exit ${outcome}` : 'not known how it ended';
    const surely = outcome === 'waiting' ? exitCodes.failed : exitCodes.unknown;
    return { profile, why: why ?? said, code: typeof outcome === 'number' ? outcome : surely };
  };
  const isUnsure = (profile: string) => {
    const noted = last.get(profile);
    return !isDone(noted?.outcome) && !surelyNot(noted);
  };
  const failed = logins.filter(({ profile }) => surelyNot(last.get(profile)));
  const isMoved = ({ profile, of }: Login) => {
    const before = last.get(profile)?.of;
    return before !== undefined && before !== of;
  };
  return {
    meant: failed.filter((login) => !isMoved(login)),
    /** Something may be done there. */
    unsure: [...logins.map(({ profile }) => profile), ...gone].filter(isUnsure).map((profile) => left(profile)),
    /** It failed, and cannot be run for the same account again. */
    lost: [
      ...failed.filter(isMoved).map(({ profile }) => left(profile, 'it logs in to another account now')),
      ...gone.filter((profile) => surelyNot(last.get(profile))).map((profile) => left(profile, 'it is saved no more')),
    ],
    /** It was never run. */
    fresh: logins.map(({ profile }) => profile).filter((profile) => !last.has(profile)),
  };
}
