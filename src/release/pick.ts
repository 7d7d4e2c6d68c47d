import { bareVersion, isVersion, type Section } from './section.ts';

/** Something wrong with what is to be released, and where in the file, where it has a place there. */
export type Problem = { readonly message: string; readonly hint?: string; readonly line?: number };

export type Picked =
  | { readonly ok: true; readonly section: Section }
  | { readonly ok: false; readonly problem: Problem };

/** The section of `version` (`1.2.0`, `v1.2.0`, `web@1.2.0`); without one the newest that is released. */
export function pickSection(sections: readonly Section[], version: string | undefined): Picked {
  if (version === undefined) return pickNewest(sections);
  const found = sections.filter((section) => isNamed(section, version));
  const [section, twin] = found;
  if (!section) {
    const known = sections.filter((each) => each.version !== '').map((each) => each.version);
    return failed(`There is no section for ${bareVersion(version)}.`, {
      line: 1,
      hint:
        known.length > 0
          ? `The file has ${known.slice(0, 5).join(', ')}${known.length > 5 ? ', …' : ''}.`
          : 'A section begins with a heading like: ## 1.2.0',
    });
  }
  if (twin) {
    return failed(`There are two sections for ${section.version}, in lines ${section.line} and ${twin.line}.`, {
      line: twin.line,
      hint:
        twin.name === section.name
          ? 'Merge them into one.'
          : `Say which, for example: ${section.name}@${section.version}`,
    });
  }
  return filled(section);
}

function pickNewest(sections: readonly Section[]): Picked {
  const released = sections.filter((section) => !section.unreleased);
  const [first] = released;
  if (!first) {
    const fact =
      sections.length > 0 ? 'There is no section of a released version.' : 'There is no section of a version.';
    return failed(fact, { line: sections[0]?.line ?? 1, hint: 'A section begins with a heading like: ## 1.2.0' });
  }
  // Newest first is the custom. A file that is written downwards without exception has its newest at the end.
  const isUpward = released.every((section, i) => isOlder(released[i - 1]?.version ?? '', section.version) || i === 0);
  return filled((isUpward && released.at(-1)) || first);
}

function filled(section: Section): Picked {
  if (section.markdown() !== '') return { ok: true, section };
  return failed(`The section of ${section.version} is empty.`, {
    line: section.line,
    hint: 'Write below it what is new.',
  });
}

const failed = (message: string, rest: Omit<Problem, 'message'>): Picked => ({
  ok: false,
  problem: { message, ...rest },
});

/** `web@1.2.0` is the version 1.2.0 of web, and of a file that names no packages. */
function isNamed(section: Section, typed: string): boolean {
  const [, name, version = ''] = /^(?:(.+)@)?(.*)$/u.exec(bareVersion(typed).toLowerCase()) ?? [];
  if (section.version.toLowerCase() !== bareVersion(version)) return false;
  return name === undefined || section.name === undefined || section.name.toLowerCase() === name;
}

/** By the numbers alone: pre-releases of one version stand side by side. */
function isOlder(a: string, b: string): boolean {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const at = left.findIndex((number, i) => number !== (right[i] ?? 0));
  return at >= 0 && (left[at] ?? 0) < (right[at] ?? 0);
}

const numbersOf = (version: string): number[] =>
  (/^\d+(?:[.-]\d+)*/u.exec(version)?.[0] ?? '').split(/[.-]/u).map(Number);

/** The tag that a CI job runs for, where it names a version: a promise to release just that. */
export function tagOfJob(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const tag = env.GITHUB_REF_TYPE === 'tag' ? env.GITHUB_REF_NAME : env.CI_COMMIT_TAG || env.CIRCLE_TAG;
  return tag && isVersion(tag) ? tag : undefined;
}
