import { join } from 'node:path';
import type { Context } from '../context.ts';
import { logsIn } from '../disk/log/shared-log-part.ts';
import { Failure, isInterruption, messageOf } from '../errors.ts';
import { hexDigestOf } from '../text/digest.ts';
import { type Begun, openAudit } from './audit.ts';
import type { About, Line } from './entry.ts';
import { auditRoot, fileName } from './place.ts';

/** What the setting is to be, and what was typed for it. `own`: the record of the login in use, which may not be there yet. */
export type Switch = {
  readonly to: NonNullable<About['recording']>;
  readonly command: string;
  readonly own: string | undefined;
};

/** Of what was written meanwhile the record says nothing. ISO 8601; `to`: null where it does not say that it is on again. */
export type Gap = { readonly from: string; readonly to: string | null };

/**
 * Changes the setting, and says so in every record of this state folder: as of a write, before it and after. The setting is
 * for all accounts. What cannot be written keeps nobody from switching off a record that cannot be written.
 *
 * @returns sentences: of the records that do not say it
 */
export async function switchRecords(ctx: Context, wanted: Switch, change: () => Promise<void>): Promise<string[]> {
  const root = auditRoot(ctx.files);
  const problems: string[] = [];
  const failed = (folder: string) => (error: unknown) => {
    if (error instanceof Failure && isInterruption(error)) throw error;
    const why = messageOf(error instanceof Failure ? (error.cause ?? error) : error).replace(/\.$/u, '');
    problems.push(`The record in ${folder} does not say so: ${why}.`);
  };
  const begun: Begun[] = [];
  for (const name of namesIn(root, wanted.own, failed(root))) {
    const audit = openAudit(ctx, name, 'on');
    const about = aboutOf(wanted, audit.who(ctx.origin));
    await audit.begin(about, '').then((one) => begun.push(one), failed(join(root, name)));
  }
  const ended = (outcome: 'done' | 'refused') =>
    Promise.all(begun.map((one) => one.ended({ outcome, status: null }).catch(failed(root))));
  await change().catch(async (error: unknown) => {
    await ended('refused');
    throw error;
  });
  await ended('done');
  return problems;
}

function namesIn(root: string, own: string | undefined, failed: (error: unknown) => void): readonly string[] {
  try {
    return [...new Set([...logsIn(root, fileName), ...(own === undefined ? [] : [own])])];
  } catch (error) {
    failed(error);
    return [];
  }
}

/** It goes nowhere, and is about no record. */
const aboutOf = ({ to, command }: Switch, who: About['who']): About => ({
  ...{ service: '', account: null, profile: null, credential: '', face: 'cli', who, command },
  ...{ operation: null, method: '', path: '', record: null, digest: hexDigestOf(''), draft: null, recording: to },
});

/** Gathers the gaps, line by line. */
export function gapsOf(): { readonly see: (line: Line) => void; readonly gaps: () => readonly Gap[] } {
  const gaps: (Gap & { readonly seq: number })[] = [];
  return {
    see({ recording, outcome, time, seq }) {
      const last = gaps.at(-1);
      const isOpen = last?.to === null;
      if (recording === 'off' && outcome === 'sent' && !isOpen) gaps.push({ seq, from: time, to: null });
      if (recording === 'off' && outcome === 'refused' && last?.seq === seq) gaps.pop();
      if (recording === 'on' && outcome === 'done' && last && isOpen) gaps[gaps.length - 1] = { ...last, to: time };
    },
    gaps: () => gaps.map(({ from, to }) => ({ from, to })),
  };
}
