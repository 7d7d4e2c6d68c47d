import type { Context } from '../context.ts';
import { appendUserText } from '../disk/place/user-file.ts';
import type { Failure } from '../errors.ts';
import {
  annotation,
  fileInRepository,
  outputLines,
  type SourcePosition,
  summaryPage,
} from '../text/workflow-commands.ts';
import { type Action, type Entry, isScheduled } from './plan.ts';
import type { Blame } from './wanted.ts';

export type Told = {
  readonly headline: string;
  readonly version: string;
  readonly action: Action;
  /** False with --check and --dry-run: nothing was done. */
  readonly written: boolean;
  readonly entry: Entry | undefined;
  readonly doubled: readonly number[];
  readonly diff: readonly string[];
  /** Sentences about a new entry. */
  readonly asides: readonly string[];
};

/** Outputs, step summary and, for a doubled entry, a warning on the section's line. */
export async function tellGithub(ctx: Context, told: Told, blame: Blame): Promise<void> {
  const { entry, doubled, asides } = told;
  const { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = ctx.env;
  if (doubled.length > 0)
    ctx.runner?.(annotation('warning', 'Doubled changelog entry', doubledNote(told), placeOf(ctx, blame)));
  if (GITHUB_OUTPUT) {
    const outputs = {
      action: outputAction(told),
      version: told.version,
      entry_id: String(entry?.id ?? ''),
      slug: entry?.slug ?? '',
      status: entry?.status ?? '',
    };
    await appendUserText(GITHUB_OUTPUT, outputLines(outputs, ctx.random), 'GITHUB_OUTPUT');
  }
  if (GITHUB_STEP_SUMMARY) {
    const rows: [string, string][] = [['Version', told.version]];
    if (entry) {
      const status = isScheduled(entry) ? `scheduled for ${entry.published_at}` : entry.status;
      rows.push(['Entry', String(entry.id)], ['Slug', entry.slug], ['Status', status]);
    }
    if (doubled.length > 0) rows.push(['Doubled', doubledNote(told)]);
    rows.push(...asides.map((aside): [string, string] => ['Note', aside]));
    const page = summaryPage({ headline: told.headline, rows, diff: told.diff.join('\n') });
    await appendUserText(GITHUB_STEP_SUMMARY, page, 'GITHUB_STEP_SUMMARY');
  }
}

const foreseen: Record<Action, string> = {
  created: 'would-create',
  published: 'would-publish',
  updated: 'would-update',
  unchanged: 'unchanged',
};

/** A later step must not take what --check foresaw for something that was done. */
const outputAction = ({ action, written }: Pick<Told, 'action' | 'written'>): string =>
  written ? action : foreseen[action];

/** An annotation on the offending line. */
export function annotate(ctx: Context, failure: Failure, blame: Blame): void {
  const { message, hint, fields = {} } = failure;
  const details = Object.entries(fields).flatMap(([field, all]) => all.map((one) => `${field}: ${one}`));
  const text = [message, ...details, ...(hint ? [hint] : [])].join('\n');
  ctx.runner?.(annotation('error', 'svc changelog release', text, placeOf(ctx, blame)));
}

export const doubledNote = ({ version, entry, doubled }: Pick<Told, 'version' | 'entry' | 'doubled'>): string =>
  `${doubled.length === 1 ? 'Entry' : 'Entries'} ${doubled.join(', ')} ${doubled.length === 1 ? 'is' : 'are'} of version ` +
  `${version} too; svc works with entry ${entry?.id}. The API cannot delete entries: remove the duplicate in the portal.`;

const placeOf = ({ env }: Context, { file, line }: Blame): SourcePosition | undefined =>
  file === undefined || file === '-'
    ? undefined
    : { file: fileInRepository(file, env.PWD ?? '', env.GITHUB_WORKSPACE), line };
