import { dirname, join } from 'node:path';
import { createChangelogEntry } from '../api/changelog.ts';
import { check } from '../api/check.ts';
import type { Context } from '../context.ts';
import { isThere, readIfThere } from '../disk/file/atomic-file.ts';
import { readUserText } from '../disk/place/user-file.ts';
import { Failure, messageOf } from '../errors.ts';
import { capital } from '../text/capital.ts';
import { jsonIn } from '../text/json.ts';
import { fieldsIn, textIn } from '../text/record.ts';
import { shellWord } from '../text/shell-word.ts';
import { parseTime } from '../text/time.ts';
import { tellOfFilesBeside } from './beside.ts';
import { type FrontMatter, readNotes } from './front-matter.ts';
import { namesNone, type Problem, pickSection, seriesOfTag, tagOfJob, versionOfTag } from './pick.ts';
import { newBody, type Wanted } from './plan.ts';
import { type Section, sectionsOf } from './section.ts';
import { bareVersion, isInSeries, isVersion } from './version.ts';

export type ReleaseFlags = {
  readonly version: string | undefined;
  readonly from: string | undefined;
  readonly notesFile: string | undefined;
  /** Line of the heading, where its version does not tell it from others. */
  readonly line: number | undefined;
  readonly title: string | undefined;
  readonly label: readonly string[];
  readonly categoryId: number | undefined;
  readonly at: string | undefined;
  readonly draft: boolean;
};

/** What has been found out when something fails: the file, and the line in it that is to blame. */
export type Blame = { file?: string; line?: number };

/** What the portal is to agree with, read and judged before anything is sent. Throws usage Failures. */
export async function wantedFrom(ctx: Context, asked: ReleaseFlags, blame: Blame): Promise<Wanted> {
  if (asked.version !== undefined && namesNone(asked.version)) {
    throw new Failure('usage', `VERSION must name a version, not "${asked.version}".`, {
      hint: 'If a variable stands there, it has no value. For example: svc changelog release 1.2.0',
    });
  }
  const source =
    asked.notesFile === undefined ? await fromChangelog(ctx, asked, blame) : await fromNotes(ctx, asked, blame);
  // What somebody called a draft is not published for want of a flag.
  const draft = asked.draft || source.draft === true;
  if (draft && asked.at !== undefined) {
    throw new Failure('usage', 'A draft keeps no time, and the front matter says that it is one.', {
      hint: 'Leave out --at, or the draft in the front matter.',
    });
  }
  const { publishedAt, ...timeless } = source;
  if (draft && publishedAt !== undefined)
    ctx.notice('A draft keeps no time: published_at of the front matter is left out.');
  const wanted = {
    ...(draft ? timeless : source),
    draft,
    ...(asked.title !== undefined && { title: asked.title }),
    ...(asked.label.length > 0 && { labels: asked.label }),
    ...(asked.categoryId !== undefined && { categoryId: asked.categoryId }),
    ...(asked.at !== undefined && { publishedAt: asked.at }),
  };
  judge(wanted, blame);
  tellOfFilesBeside(ctx, wanted.content);
  return wanted;
}

type Source = Pick<
  Wanted,
  'beside' | 'version' | 'package' | 'content' | 'title' | 'labels' | 'categoryId' | 'publishedAt'
> & {
  readonly draft?: boolean;
};

async function fromChangelog(ctx: Context, asked: ReleaseFlags, blame: Blame): Promise<Source> {
  const path = asked.from ?? 'CHANGELOG.md';
  if (asked.from === undefined && !(await isThere(path)))
    throw new Failure('usage', `There is no file ${path} in this folder.`, {
      hint: 'Name the changelog: svc changelog release --from FILE. Of the notes alone: --notes-file FILE VERSION',
    });
  blame.file = path;
  const sections = sectionsOf(await readUserText(ctx, path, '--from'), path);
  const version = asked.version ?? (await versionOfThisJob(ctx, asked, sections));
  const tag = tagOfJob(ctx.env);
  const picked = pickSection(sections, version, asked.line);
  if (!picked.ok) throw problemIn(picked.problem, blame, asked.from);
  blame.line = picked.section.line;
  const name = packageIn(asked.version ?? (version === tag ? tag : undefined));
  const isNamed = name === undefined || picked.version.includes('@');
  const isSame = (each: Section) => each.kind === 'released' && each.name === picked.section.name;
  const prefix = /^.+@/u.exec(picked.version)?.[0] ?? (isNamed ? '' : `${name}@`);
  const versions = sections.filter(isSame).map((each) => `${prefix}${each.version}`);
  const isChosen = asked.version !== undefined || asked.line !== undefined || tag !== undefined;
  return {
    beside: { file: path, versions, isChosen },
    version: picked.version,
    content: picked.section.markdown(),
    ...(!isNamed && { package: name }),
  };
}

/** Only `web@1.2.0` surely names a package: in `prod-v1.2.0` something else may stand before the version. */
const packageIn = (typed: string | undefined): string | undefined =>
  /^(?:refs\/tags\/)?(.+)@/u.exec(typed?.trim() ?? '')?.[1];

/** The version of a CI job; undefined where there is none, and then the newest of the file is meant. */
async function versionOfThisJob(
  ctx: Context,
  asked: ReleaseFlags,
  sections: readonly Section[],
): Promise<string | undefined> {
  const tag = tagOfJob(ctx.env);
  const series = tag && seriesOfTag(tag);
  if (series) return newestOf(series, sections) ?? noVersionIn(tag);
  const tagged = tag && versionOfTag(tag);
  if (tagged) ctx.notice(`Using ${tagged}, the ${tagged === tag ? 'tag' : `version of the tag ${tag}`} of this job.`);
  // A line is a choice of its own, which the tag's version must agree with.
  if (tagged || asked.line !== undefined) return tagged;
  if (tag !== undefined) return noVersionIn(tag);
  const version = await packageVersion(ctx, asked.from ?? 'CHANGELOG.md');
  if (!version) return undefined;
  const [own, newest] = [pickSection(sections, version), pickSection(sections, undefined)];
  // A package.json whose version the changelog does not tell about (0.0.0, a private root) says nothing.
  if (!own.ok && own.problem.isAbsent) return undefined;
  if (!own.ok || !newest.ok || newest.section !== own.section)
    ctx.notice(`Using ${version}, the version in package.json.`);
  return version;
}

/** Another version must not be released for it. */
function noVersionIn(tag: string): never {
  throw new Failure('usage', `The tag ${tag} of this job names no version, so svc does not know which to release.`, {
    hint: 'Name it: svc changelog release VERSION',
  });
}

/** The newest of all, where it is of the series. */
function newestOf(series: string, sections: readonly Section[]): string | undefined {
  const newest = pickSection(sections, undefined);
  return newest.ok && isInSeries(newest.version, series) ? newest.version : undefined;
}

/** Only inside CI: on a desk the newest section is what somebody is writing about. */
async function packageVersion({ env }: Context, path: string): Promise<string | undefined> {
  if (!isCi(env.CI) && !isCi(env.GITHUB_ACTIONS)) return undefined;
  const text = await readIfThere(join(path === '-' ? '.' : dirname(path), 'package.json'));
  const version = textIn(fieldsIn(jsonIn(text ?? '')).version);
  return version !== undefined && isVersion(version) ? version : undefined;
}

const isCi = (value: string | undefined): boolean => !['', '0', 'false'].includes(value ?? '');

async function fromNotes(ctx: Context, asked: ReleaseFlags, blame: Blame): Promise<Source> {
  const path = asked.notesFile ?? '-';
  blame.file = path;
  const notes = readNotes(await readUserText(ctx, path, '--notes-file'));
  if ('problem' in notes) throw problemIn(notes.problem, blame);
  const { fields, content, line, unknown } = notes;
  if (fields.version !== undefined && namesNone(fields.version)) {
    throw problemIn({ message: `In the front matter, version must name one, not "${fields.version}".` }, blame);
  }
  if (unknown.length > 0) ctx.notice(`Ignored in the front matter: ${unknown.join(', ')}.`);
  const version = asked.version ?? fields.version ?? versionOfTagged(ctx) ?? (await packageVersion(ctx, path));
  if (!version) {
    throw new Failure('usage', 'VERSION is required with --notes-file.', {
      hint: 'Run: svc changelog release 1.2.0 --notes-file FILE',
    });
  }
  const status = fields.status?.trim().toLowerCase();
  if (status !== undefined && status !== 'draft' && status !== 'published')
    throw problemIn({ message: 'In the front matter, status must be draft or published.', line: undefined }, blame);
  blame.line = line;
  if (content === '') throw problemIn({ message: `The notes of ${version} are empty.`, line }, blame);
  return { version: bareVersion(version), content, ...settingsIn(fields, blame), draft: status === 'draft' };
}

/** What stands before the version in `prod-v1.2.0` is no part of what a reader is told. */
function versionOfTagged({ env }: Context): string | undefined {
  const tag = tagOfJob(env);
  return tag === undefined || isVersion(tag) ? tag : versionOfTag(tag)?.replace(/^.*@/u, '');
}

const settingsIn = ({ title, labels, category_id, published_at }: FrontMatter, blame: Blame): Partial<Source> => ({
  ...(title !== undefined && { title }),
  ...(labels && { labels }),
  ...(category_id !== undefined && { categoryId: Number(category_id) }),
  ...(published_at !== undefined && { publishedAt: timeIn(published_at, blame) }),
});

function timeIn(text: string, blame: Blame): string {
  try {
    return parseTime(text, 'published_at');
  } catch (error) {
    const message = messageOf(error);
    const { message: placed, hint } = problemIn({ message, line: blame.line }, blame);
    throw new Failure('usage', placed, { hint, fields: { published_at: [message] } });
  }
}

function problemIn({ message, meant, line, ...problem }: Problem, blame: Blame, from?: string): Failure {
  blame.line = line;
  const file = from === undefined ? '' : ` --from ${shellWord(from)}`;
  const hint =
    meant === undefined ? problem.hint : `If ${meant} is meant: svc changelog release ${shellWord(meant)}${file}`;
  const place = blame.file === '-' ? capital(placeOf(blame)) : placeOf(blame);
  return new Failure('usage', `${place}: ${message}`, { hint });
}

const placeOf = ({ file, line }: Blame): string => {
  if (file === '-') return `standard input${line ? `, line ${line}` : ''}`;
  return `${file}${line ? `:${line}` : ''}`;
};

/** The service's limits, before anything is sent. */
function judge(wanted: Wanted, blame: Blame): void {
  const checked = check(createChangelogEntry.body, newBody({ ...wanted, draft: false }));
  if (checked.ok) return;
  const place = blame.line ? ` (${placeOf(blame)})` : '';
  throw new Failure('usage', `The service would refuse the entry of ${wanted.version}${place}; nothing was sent.`, {
    fields: checked.fields,
  });
}
