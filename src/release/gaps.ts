import { listed } from '../text/listed.ts';
import { shellWord } from '../text/shell-word.ts';
import { type Item, nameOf, type Wanted } from './plan.ts';
import { isOlder, versionKey } from './version.ts';

/** What the portal and the changelog have beside the version that is released. */
export type Gaps = {
  /** Versions of the changelog between the one before on the portal and this one, the newest first. The portal has none of them. */
  readonly skipped: readonly string[];
  /** The newest version of the portal, where the changelog does not have it and nobody has said which one to release. */
  readonly newer: string | undefined;
};

/**
 * A run releases one version: what was written since the run before, and what the changelog has lost, is seen only beside it.
 * Before the first release nothing is missing. Pre-releases are not counted: many projects never announce them.
 */
export function gapsBeside(wanted: Wanted, items: readonly Item[]): Gaps {
  const { beside } = wanted;
  const own = splitName(wanted.version, wanted.package);
  if (!beside || !isRelease(own.number)) return { skipped: [], newer: undefined };
  const onPortal = items.flatMap((item) => {
    const { name, number } = splitName(item.version ?? '', nameOf(item));
    return name === own.name && isRelease(number) ? [number] : [];
  });
  const inFile = beside.versions.map((version) => ({ version, number: splitName(version).number }));
  const before = newestOf(onPortal.filter((version) => isOlder(version, own.number)));
  const isBetween = (version: string) =>
    before !== undefined && isOlder(before, version) && isOlder(version, own.number) && !onPortal.includes(version);
  const newest = newestOf(onPortal.filter((version) => isOlder(own.number, version)));
  const isLost = newest !== undefined && !beside.isChosen && inFile.every(({ number }) => number !== newest);
  const skipped = inFile.filter(({ number }) => isRelease(number) && isBetween(number));
  return {
    skipped: skipped.sort((a, b) => (isOlder(a.number, b.number) ? 1 : -1)).map(({ version }) => version),
    newer: isLost ? newest : undefined,
  };
}

/** Sentences for whoever has just released that version, or is about to. */
export function gapNotes({ version, beside }: Wanted, { skipped, newer }: Gaps): readonly string[] {
  const file = beside?.file ?? '-';
  const [name, from] = file === '-' ? ['the changelog', ' --from FILE'] : [file, fromFlag(file)];
  const more = skipped.length - 3;
  const names = [...skipped.slice(0, 3), ...(more > 0 ? [`${more} more`] : [])];
  const [is, has, it] = skipped.length === 1 ? ['is', 'has', 'it'] : ['are', 'have', 'the oldest'];
  const oldest = skipped.at(-1);
  return [
    ...(oldest === undefined
      ? []
      : [
          `${listed(names, 'and')} ${is} in ${name} too, and ${has} no entry. To release ${it}: svc changelog release ${shellWord(oldest)}${from}`,
        ]),
    ...(newer === undefined
      ? []
      : [`The portal has ${newer}, which is newer than ${version}, and ${name} does not have it.`]),
  ];
}

const fromFlag = (file: string): string => (file === 'CHANGELOG.md' ? '' : ` --from ${shellWord(file)}`);

/** Numbers or a day. */
const isRelease = (version: string): boolean => /^\d+(?:[.-]\d+)+$/u.test(version);

const newestOf = (versions: readonly string[]): string | undefined =>
  versions.reduce<string | undefined>(
    (newest, one) => (newest === undefined || isOlder(newest, one) ? one : newest),
    undefined,
  );

function splitName(version: string, known?: string): { readonly name: string; readonly number: string } {
  const [, name = known ?? '', number = ''] = /^(?:(.+)@)?(.*)$/u.exec(versionKey(version)) ?? [];
  return { name: name.toLowerCase(), number };
}
