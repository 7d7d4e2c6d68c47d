import { defineCommand, type Param } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { withContext } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { connect, type Service } from '../../http/call/call.ts';
import type { View } from '../../output/view.ts';
import type { Told as ToldInJob } from '../../release/github.ts';
import type { Action, Item, Wanted } from '../../release/plan.ts';
import type { Difference } from '../../release/show.ts';
import type { Blame } from '../../release/wanted.ts';
import { message } from '../../text/layout.ts';
import { zoneDoubt } from '../../text/own-zone.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { isMoving, parseTime } from '../../text/time.ts';

const time: Param<string | undefined> = {
  description: 'When to publish; a time in the future schedules it',
  placeholder: 'TIME',
  doubt: zoneDoubt,
  parse(texts, flag) {
    const text = texts.at(-1) ?? '';
    if (!isMoving(text)) return parseTime(text, flag);
    throw new Failure('usage', `${flag} "${text}" means another time in each run, and would move the entry again.`, {
      hint: 'Give the time itself, like 2026-01-31 or 2026-01-31T09:00:00Z.',
    });
  },
};

/** What is told of a run, in every form: text, JSON, outputs of a CI job. */
type Told = ToldInJob & {
  readonly changes: readonly string[];
  /** Versions of the changelog between the one before and this one, of which the portal has none. */
  readonly skipped: readonly string[];
  /** What would be sent and what would change, where nothing is written. */
  readonly foreseen?: { readonly content: string; readonly difference: readonly Difference[] };
};

export const releaseChangelog = defineCommand({
  name: 'release',
  summary: 'Make the portal agree with the changelog; safe to run any number of times',
  details:
    'Takes the section of VERSION from CHANGELOG.md and creates, publishes or updates the entry of that version. ' +
    'However often it runs: one entry, one changelog.published event.\n' +
    'VERSION is by default the newest that is not marked unreleased or TBD; in a CI job the tag that it runs for, or the ' +
    'version in package.json where the changelog has it.\n' +
    'The section ends at the next heading of a version. Where several headings are of one version, or it is not sure ' +
    'where the section ends, nothing is sent: choose with NAME@VERSION or --line.\n' +
    'Title, labels, category and time are compared only where they are given, so what was edited by hand stays.\n' +
    '--dry-run --json has the content and the difference.',
  args: { version: param.text('Such as 1.2.0 or v1.2.0', { placeholder: 'VERSION' }) },
  flags: {
    from: param.file('The changelog (default CHANGELOG.md); - is standard input'),
    notesFile: param.file('The notes of VERSION alone, instead of a changelog; - is standard input', {
      conflicts: ['from'],
    }),
    line: param.integer('Line of the heading to take, where its version alone does not choose', {
      min: 1,
      conflicts: ['notesFile'],
    }),
    title: param.text('Title; on creation the default is "Release VERSION"', { prose: true }),
    label: param.texts('A label; repeat for more'),
    categoryId: param.integer('Category of this portal', { min: 1, placeholder: 'ID' }),
    at: time,
    draft: param.toggle('Leave it a draft; a published entry stays published', { conflicts: ['at'] }),
    check: param.toggle('Write nothing; exit 11 when something would be written'),
    dryRun: param.toggle('Write nothing; show what would be written'),
    annotate: param.choice('Speak to this CI service (default: github inside GitHub Actions)', ['github', 'none']),
  },
  prints: async () => [
    ...['action', 'version', 'entry', 'scheduled', 'changes', 'doubled_ids', 'skipped', 'written'],
    ...['content', 'difference'],
  ],
  examples: [
    'svc changelog release --dry-run',
    'svc changelog release 0.1.0 --title "Faster exports" --label improvement',
    'svc changelog release --check',
    'svc changelog release --dry-run --json',
  ],
  publishes: true,
  async run(outer, { args, flags, settings }) {
    const ctx = withContext(outer, { sends: outer.sends?.with({ hasOwnDraft: true }) });
    const onGithub = flags.annotate ? flags.annotate === 'github' : ctx.env.GITHUB_ACTIONS === 'true';
    const blame: Blame = {};
    let isRead = false;
    refuseFile(args.version);
    try {
      const { wantedFrom } = await import('../../release/wanted.ts');
      const wanted = await wantedFrom(ctx, { ...args, ...flags }, blame);
      isRead = true;
      const service = await connect(ctx, settings);
      const told = await (flags.check || flags.dryRun ? foresee(service, wanted) : carryOut(service, wanted));
      if (onGithub) await (await import('../../release/github.ts')).tellGithub(ctx, told, blame);
      return viewOf(told, flags.check);
    } catch (failure) {
      if (!onGithub || !(failure instanceof Failure)) throw failure;
      if (failure.drafted) throw failure;
      const { wholeFailure } = await import('../../http/send/whole.ts');
      // Once it is read, the changelog is to blame only for what the service refuses in it; never for a key or a network.
      const isItsFault = !isRead || failure.kind === 'rejected';
      const whole = wholeFailure(failure, ctx.writes);
      (await import('../../release/github.ts')).annotate(ctx, whole, isItsFault ? blame : {});
      throw whole;
    }
  },
});

/** No version ends like the name of a file, or is what projects call their changelog. */
function refuseFile(version: string | undefined): void {
  const isFile = /\.(?:md|markdown|mdx|rst|rest|txt|adoc)$|(?:^|[/\\])(?:changelog|changes|history|news|releases)$/iu;
  if (version === undefined || !isFile.test(version)) return;
  throw new Failure('usage', `${version} is a file, and the argument is a version.`, {
    hint: `Run: svc changelog release --from ${shellWord(version)}`,
  });
}

async function foresee(service: Service, wanted: Wanted): Promise<Told> {
  const { survey } = await import('../../release/run.ts');
  const { differencesIn, intentionOf, rowsOf } = await import('../../release/show.ts');
  const { plan, entry: seen, doubled, items } = await survey(service, wanted);
  const entry = seen?.was;
  const { action, body } = plan;
  const difference = body ? differencesIn(body, entry) : [];
  return {
    ...{ action, version: wanted.version, entry, doubled, written: false },
    ...(await besidesOf(wanted, action, items)),
    changes: Object.keys(body ?? {}),
    headline: intentionOf(action, entry, body),
    diff: rowsOf(difference, { isNew: entry === undefined }),
    foreseen: { content: wanted.content, difference },
  };
}

async function carryOut(service: Service, wanted: Wanted): Promise<Told> {
  const { release } = await import('../../release/run.ts');
  const { sentenceOf } = await import('../../release/show.ts');
  const done = await release(service, wanted);
  return {
    ...{ ...done, version: wanted.version, written: done.action !== 'unchanged' },
    ...(await besidesOf(wanted, done.action, done.items)),
    headline: sentenceOf(done.action, done.entry, done.changes),
    diff: [],
  };
}

/** Told with a new entry alone: whoever leaves a version out is not told of it with every run. */
async function besidesOf(
  wanted: Wanted,
  action: Action,
  items: readonly Item[],
): Promise<Pick<Told, 'skipped' | 'asides'>> {
  const { gapNotes, gapsBeside } = await import('../../release/gaps.ts');
  const gaps = gapsBeside(wanted, items);
  return { skipped: gaps.skipped, asides: action === 'created' ? gapNotes(wanted, gaps) : [] };
}

async function viewOf(told: Told, isCheck: boolean): Promise<View> {
  const { doubledNote } = await import('../../release/github.ts');
  const { isScheduled } = await import('../../release/plan.ts');
  const { action, version, entry = null, changes, doubled, skipped, asides, written, headline, diff, foreseen } = told;
  // Titles and content are customer-visible text.
  const shown = (line: string) => sanitize(line);
  return {
    data: {
      shape: 'record',
      record: {
        action,
        version,
        entry,
        scheduled: entry !== null && isScheduled(entry),
        changes,
        doubled_ids: doubled,
        skipped,
        written,
        ...foreseen,
      },
    },
    human: async ({ width }) => {
      const { wrap } = await import('../../text/width.ts');
      // The column of + and - stays free below a line that is broken.
      const row = (text: string) => {
        const [, mark = '', rest = ''] = /^( +(?:[-+|] )?)(.*)$/su.exec(shown(text)) ?? ['', '', shown(text)];
        return wrap(rest, Math.max(20, width - mark.length)).map(
          (part, at) => (at === 0 ? mark : ' '.repeat(mark.length)) + part,
        );
      };
      return [message(shown(headline), width), ...diff.flatMap(row)].join('\n');
    },
    plain: () => [headline, ...diff].map(shown).join('\n'),
    notes: [
      ...(doubled.length > 0 ? [`Warning: ${doubledNote(told)}`] : []),
      ...asides.map((aside) => `Note: ${aside}`),
    ],
    outcome: isCheck && action !== 'unchanged' ? 'differs' : undefined,
  };
}
