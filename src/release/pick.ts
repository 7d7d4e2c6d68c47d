import { listed } from '../text/listed.ts';
import type { Section } from './section.ts';
import { bareVersion, isInSeries, isOlder, isVersion, versionPattern } from './version.ts';

/** Something wrong with what is to be released, and where in the file, where it has a place there. */
export type Problem = {
  readonly message: string;
  readonly hint?: string;
  /** In place of a hint: the version that may be meant, to be named. */
  readonly meant?: string;
  readonly line?: number;
  /** The file says nothing of the version. */
  readonly isAbsent?: boolean;
};

export type Picked =
  | {
      readonly ok: true;
      readonly section: Section;
      /** `web@1.2.0` where it must be told from others. */
      readonly version: string;
    }
  | { readonly ok: false; readonly problem: Problem };

/** The section of `version` (`1.2.0`, `v1.2.0`, `web@1.2.0`) or of a heading's line; without both the newest released. */
export function pickSection(sections: readonly Section[], version: string | undefined, line?: number): Picked {
  if (line !== undefined) return pickLine(sections, version, line);
  if (version === undefined) return pickNewest(sections);
  const { name } = partsOf(version);
  const found = bestNamed(sections, version);
  const [section, ...twins] = found.filter(isSection);
  if (!section) return missing(sections, found, version);
  if (twins.length > 0) return several([section, ...twins]);
  return filled(section, { isNamed: name !== undefined });
}

const isSection = ({ kind }: Section): boolean => kind === 'released' || kind === 'unreleased' || kind === 'yanked';

/** A line chooses where names cannot: of identical headings, and where svc is in doubt. */
function pickLine(sections: readonly Section[], version: string | undefined, line: number): Picked {
  const section = sections.find((each) => each.line <= line && line <= each.lastLine && each.version !== '');
  if (!section) {
    return failed(`There is no heading of a version in line ${line}.`, { line, hint: `Add ${linesOf(sections)}.` });
  }
  if (version !== undefined && !isNamed(section, version)) {
    const wanted = bestNamed(sections, version);
    return failed(`The heading in line ${line} is not of ${bareVersion(version)} but of ${fullName(section)}.`, {
      line,
      hint: wanted.length > 0 ? `Add ${linesOf(wanted)}.` : `Give ${fullName(section)} as the version.`,
    });
  }
  const isNamedToo = version !== undefined && partsOf(version).name !== undefined;
  const isOneOfSeveral = sections.some((each) => isPeer(each, section) && each.name !== section.name);
  return filled({ ...section, doubt: undefined }, { isNamed: isNamedToo || isOneOfSeveral });
}

const isPeer = (each: Section, section: Section): boolean =>
  each !== section && isSection(each) && each.version.toLowerCase() === section.version.toLowerCase();

function pickNewest(sections: readonly Section[]): Picked {
  const released = sections.filter((section) => section.kind === 'released');
  const [first] = released;
  const doubtful = sections.filter((section) => section.kind === 'doubtful' && section.version !== '');
  if (!first) return nothingReleased(sections, doubtful);
  // Newest first is the custom. A file that is written downwards without exception has its newest at the end.
  const isUpward = released.every((section, i) => isOlder(released[i - 1]?.version ?? '', section.version) || i === 0);
  const newest = (isUpward && released.at(-1)) || first;
  const maybe = doubtful.find(({ line }) => (newest === first ? line < newest.line : line > newest.line));
  if (maybe && newest.doubt?.line !== maybe.line) {
    return failed(`${quoted(maybe)} in line ${maybe.line} may be a newer version than ${newest.version}.`, {
      line: maybe.line,
      hint: `Say which: add ${linesOf([newest, maybe])}.`,
    });
  }
  const title = sections.find((each) => isBeyond(each, newest, sections));
  if (title) {
    return failed(
      `The heading in line ${title.line} names ${title.version}, but the newest section is ${fullName(newest)}.`,
      {
        line: title.line,
        meant: fullName(newest),
      },
    );
  }
  const twins = released.filter((each) => isPeer(each, newest));
  return twins.length > 0 ? several(inOrder([newest, ...twins])) : filled(newest, { isNamed: false });
}

/** A heading above the newest names a newer version: then the newest is not where svc looks for it. */
function isBeyond({ kind, version }: Section, newest: Section, sections: readonly Section[]): boolean {
  if (kind === 'title') return isBelow(newest, version);
  // A day above versions is no number to compare.
  if (/^\d{4}-\d{2}-\d{2}$/u.test(version)) return false;
  return kind === 'series' && sections.every((each) => isBelow(each, version));
}

const isBelow = ({ kind, version }: Section, top: string): boolean =>
  kind === 'series' || version === '' || (isOlder(version, top) && !isInSeries(version, top));

function nothingReleased(sections: readonly Section[], doubtful: readonly Section[]): Picked {
  const [maybe] = doubtful;
  if (maybe) {
    return failed(`svc cannot tell whether ${quoted(maybe)} begins a section.`, {
      line: maybe.line,
      hint: `If it does, add --line ${maybe.line}.`,
    });
  }
  const fact = sections.some(isSection)
    ? 'There is no section of a released version.'
    : 'There is no section of a version.';
  return failed(fact, { line: sections[0]?.line ?? 1, hint: 'A section begins with a heading like: ## 1.2.0' });
}

/** No section has the version; a heading that svc does not take for one may. */
function missing(sections: readonly Section[], found: readonly Section[], version: string): Picked {
  const possible = found.filter((each) => each.markdown() !== '');
  const [maybe] = possible;
  if (maybe) {
    const fact = maybe.kind === 'doubtful' ? 'may be no heading of a version' : 'stands above several versions';
    return failed(`${quoted(maybe)} ${fact}.`, {
      line: maybe.line,
      hint:
        possible.length > 1
          ? `Say which: add ${linesOf(possible)}.`
          : `If its text is meant, add --line ${maybe.line}.`,
    });
  }
  const known = [...new Set(sections.filter((each) => isSection(each) && each.version !== '').map(fullName))];
  return failed(`There is no section for ${bareVersion(version)}.`, {
    line: 1,
    isAbsent: true,
    hint:
      known.length > 0
        ? `The file has ${known.slice(0, 5).join(', ')}${known.length > 5 ? ', …' : ''}.`
        : 'A section begins with a heading like: ## 1.2.0',
  });
}

function several(found: readonly Section[]): Picked {
  const [first, second] = found;
  const names = new Set(found.map(({ name }) => name?.toLowerCase()));
  const isByName = names.size === found.length && !names.has(undefined);
  const count = found.length === 2 ? 'two' : String(found.length);
  return failed(
    `There are ${count} sections for ${first?.version}, in lines ${listed(
      found.map(({ line }) => line),
      'and',
    )}.`,
    {
      line: second?.line ?? 1,
      hint: isByName ? `Say which: ${listed(found.map(fullName), 'or')}.` : `Say which: add ${linesOf(found)}.`,
    },
  );
}

function filled(section: Section, { isNamed }: { readonly isNamed: boolean }): Picked {
  const { line, doubt } = section;
  if (doubt) {
    const [name, close] = [fullName(section), `Else close the code block or comment that line ${doubt.opened} begins.`];
    return failed(`${quoted(doubt)} in line ${doubt.line} may begin another version, or belong to ${name}.`, {
      line: doubt.line,
      hint: `If it belongs to ${name}, add --line ${line}.${doubt.opened === undefined ? '' : ` ${close}`}`,
    });
  }
  if (section.markdown() !== '') return { ok: true, section, version: isNamed ? fullName(section) : section.version };
  return failed(`The section of ${section.version} is empty.`, { line, hint: 'Write below it what is new.' });
}

const failed = (message: string, rest: Omit<Problem, 'message'>): Picked => ({
  ok: false,
  problem: { message, ...rest },
});

const fullName = ({ name, version }: Section): string => (name === undefined ? version : `${name}@${version}`);

/** A heading may be a line of any length. */
const quoted = ({ heading }: Pick<Section, 'heading'>): string =>
  `"${heading.length > 60 ? `${heading.slice(0, 60)}…` : heading}"`;

const inOrder = (sections: readonly Section[]): Section[] => [...sections].sort((a, b) => a.line - b.line);

/** Lines that `--line` takes, a handful of them: those with a text. */
function linesOf(sections: readonly Section[]): string {
  const useful = inOrder(sections).filter((each) => each.version !== '' && each.markdown() !== '');
  return listed(
    useful.slice(0, 5).map(({ line }) => `--line ${line}`),
    'or',
  );
}

const partsOf = (typed: string): { readonly name: string | undefined; readonly version: string } => {
  const [, name, version = ''] = /^(?:(.+)@)?(.*)$/u.exec(bareVersion(typed).toLowerCase()) ?? [];
  return { name, version: bareVersion(version) };
};

/** `web@` and `v` are what `web@$V` and `v$V` leave where no V is set, and `@` is what `$NAME@$V` does. */
export const namesNone = (typed: string): boolean => /^@?v?$/u.test(partsOf(typed).version);

/** `web@1.2.0` is the version 1.2.0 of web, and of a file that names no packages. */
function isNamed(section: Section, typed: string, form = (version: string) => version): boolean {
  const { name, version } = partsOf(typed);
  // A section of no version yet is of none that could be asked for.
  if (section.version === '' || form(section.version.toLowerCase()) !== form(version)) return false;
  return name === undefined || section.name === undefined || section.name.toLowerCase() === name;
}

/** `1.2.0rc1`, `1.2.0-rc.1` and `1.2.0 RC 1` are one pre-release. */
const alike = (version: string): string =>
  version
    .replace('release candidate', 'rc')
    .replace(
      /(?<=\d)[\s._-]*(alpha|a|beta|b|rc|preview|milestone)[\s._-]*(\d*)$/u,
      (_, stage: string, number: string) =>
        ['-', stage.replace(/^a$/u, 'alpha').replace(/^b$/u, 'beta'), number].join(''),
    );

/** Those of the very name before those of none. */
function bestNamed(sections: readonly Section[], typed: string): Section[] {
  const { name } = partsOf(typed);
  const exact = sections.filter((section) => isNamed(section, typed));
  const found = exact.length > 0 ? exact : sections.filter((section) => isNamed(section, typed, alike));
  const own = found.filter((section) => name !== undefined && section.name !== undefined);
  return own.length > 0 ? own : found;
}

/** The tag that a CI job runs for: a promise to release just its version. */
export const tagOfJob = (env: Readonly<Record<string, string | undefined>>): string | undefined =>
  (env.GITHUB_REF_TYPE === 'tag' ? env.GITHUB_REF_NAME : env.CI_COMMIT_TAG || env.CIRCLE_TAG) || undefined;

const partsOfTag = (name: string) =>
  new RegExp(`^(?:(?<name>${name})[-_/])?v?\\.?(?<version>${versionPattern})$`, 'iu');
const [shortest, longest] = [partsOfTag('.+?'), partsOfTag('.+')];

/**
 * The version that a tag names, as one would type it: `svc-v1.2.0` is `svc@1.2.0`, `release/1.2.0` is `1.2.0`. Undefined
 * where it names none, or one of two.
 */
export function versionOfTag(tag: string): string | undefined {
  if (isVersion(tag)) return tag;
  const { name, version } = shortest.exec(tag)?.groups ?? {};
  if (version === undefined || longest.exec(tag)?.groups?.version !== version) return undefined;
  return name === undefined || /(?:^|[-_/])(?:versions?|ver|releases?|rel)$/iu.test(name)
    ? version
    : `${name}@${version}`;
}

/** `v2`, which projects move on to each version of the series. */
export const seriesOfTag = (tag: string): string | undefined => /^v(\d+)$/iu.exec(tag)?.[1];
