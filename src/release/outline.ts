import { type Claim, keyOf } from './heading.ts';
import type { Heading } from './headings.ts';
import { isInSeries, isOlder } from './version.ts';

/**
 * What a heading is in its changelog. `title`: the document's, with a version in it. `series`: above several versions.
 * `yanked`: taken back after it was released. `doubtful`: it may begin a section, or belong to the one before it.
 */
export type Kind = 'released' | 'unreleased' | 'yanked' | 'title' | 'series' | 'doubtful';

type Claimed = Heading & { readonly claim: Claim };
export type Mark = {
  readonly heading: Heading;
  readonly version: string;
  readonly name: string | undefined;
  readonly kind: Kind;
};

/**
 * Which headings begin sections, in the file's order. A section ends at the next version's heading of the same or a
 * higher level, or at a deeper one that begins with another version itself, and nowhere else.
 */
export function outline(headings: readonly Heading[]): Mark[] {
  const claimed = headings.filter(hasClaim).filter((each, _, all) => !isSummary(each, all));
  const title = titleOf(headings, claimed);
  const marks: Mark[] = title ? [title] : [];
  let open: Claimed | undefined;
  for (const [i, heading] of claimed.entries()) {
    if (heading === title?.heading) continue;
    const verdict = judge(heading, { claimed, open, title: headings[0] });
    if (verdict === 'none') continue;
    const { version, name } = heading.claim;
    if (verdict === 'doubtful') {
      marks.push({ heading, version, name, kind: verdict });
      continue;
    }
    const isSeries = heading.claim.form === 'series' || isAbove(heading, claimed.slice(i + 1), headings);
    marks.push({ heading, version, name, kind: isSeries ? 'series' : kindOf(heading.claim) });
    open = isSeries ? undefined : heading;
  }
  return marks;
}

function kindOf({ isUnreleased, isYanked }: Claim): Kind {
  if (isUnreleased) return 'unreleased';
  return isYanked ? 'yanked' : 'released';
}

/** A bold line about a version that has a heading of its own tells of it, and begins nothing. */
const isSummary = ({ depth, claim }: Claimed, all: readonly Claimed[]): boolean =>
  depth === 7 && all.some((each) => each.depth < 7 && isSame(each.claim, claim));

const isSame = (a: Claim, b: Claim): boolean => a.version === b.version && a.form === b.form && a.name === b.name;

const hasClaim = (heading: Heading): heading is Claimed => heading.claim !== undefined;

/** A version in the document's title is no section, whether it is the title's own or stands in a sentence. */
function titleOf([first]: readonly Heading[], claimed: readonly Claimed[]): Mark | undefined {
  if (!first || !claimed.some((each) => each.depth > first.depth)) return undefined;
  if (claimed.some((each) => each !== first && each.depth <= first.depth)) return undefined;
  const { claim } = first;
  const isName = claim?.form === 'product' && !claim.isCertain && claimed.some((each) => each.claim.form === 'plain');
  const inside = claim ? claim.version : /(?<![\w.])v?(\d+(?:\.\d+){1,3}|(?<=v)\d+)(?![\w-])/iu.exec(first.text)?.[1];
  if ((claim && !isName) || inside === undefined) return undefined;
  return { heading: first, version: inside, name: undefined, kind: 'title' };
}

/** `# 1.20` above `## 1.20.1`, and a day above the versions of that day. */
function isAbove(heading: Claimed, after: readonly Claimed[], headings: readonly Heading[]): boolean {
  const { depth, claim } = heading;
  if (claim.version === '') return false;
  const next = after.find((each) => each.depth <= depth || isPart(claim, each.claim));
  if (!next || next.depth <= depth) return false;
  const { version, isDay } = next.claim;
  if (claim.isDay) return !isDay;
  if (isInSeries(version, claim.version)) return !isRelease(heading, next, headings);
  return version === claim.version && heading === headings[0] && after.every((each) => each.depth > depth);
}

/** With a date, or above its own pre-releases, and with a text of its own, it is a version and no mere series. */
function isRelease(heading: Claimed, next: Claimed, headings: readonly Heading[]): boolean {
  const { claim } = heading;
  const isFinal = claim.isCertain || next.claim.version.startsWith(`${claim.version}-`);
  return isFinal && (heading.hasText || headings[headings.indexOf(heading) + 1] !== next);
}

const isPart = (above: Claim, { form, product, isWordy }: Claim): boolean =>
  !isWordy && (form === 'plain' || form === 'between' || (form === 'product' && product === above.product));

type Around = {
  readonly claimed: readonly Claimed[];
  readonly open: Claimed | undefined;
  readonly title: Heading | undefined;
};
type Verdict = 'begins' | 'doubtful' | 'none';

function judge(heading: Claimed, around: Around): Verdict {
  const { open } = around;
  if (open && heading.depth > open.depth) return judgeDeeper(heading, open, around.claimed);
  const { form, version, isWordy, isCertain } = heading.claim;
  // Below a bold version a package's real heading is no higher to the eye.
  if (form === 'package' && open?.depth === 7 && open.claim.form === 'plain') return 'doubtful';
  if (form === 'plain' || form === 'package') return isWordy ? 'doubtful' : 'begins';
  if (form === 'unreleased' || form === 'series') return 'begins';
  if (form === 'next') return open && !isCertain ? 'doubtful' : 'begins';
  // "What's new in 1.2.0" below "1.2.0" is a part of it.
  if (open && open.claim.version === version && open.claim.form !== form) return 'none';
  return judgeName(heading, around);
}

/** Only what begins with another version, as tools that follow commits write patches (`### [1.9.4]`). */
function judgeDeeper({ claim, depth }: Claimed, open: Claimed, claimed: readonly Claimed[]): Verdict {
  const { form, version, isCertain, isWordy, isDay } = claim;
  if (form === 'unreleased') return 'doubtful';
  if (version === open.claim.version || isWordy || isDay) return 'none';
  if (form === 'product' && claim.product !== '' && claim.product === open.claim.product) return 'begins';
  if (form === 'package' && claim.name === open.claim.name) return 'begins';
  // A name, a version and a date are a release's heading, or tell of a part: nobody but the writer knows.
  if (form === 'product' && isCertain) return 'doubtful';
  if (form !== 'plain') return 'none';
  // A version below "Unreleased" may be the one that is being written.
  const isPlanned = open.claim.version === '' && !isCertain && !claimed.some((each) => isPeer(each, claim, depth));
  return isPlanned ? 'doubtful' : 'begins';
}

const isPeer = (each: Claimed, claim: Claim, depth: number): boolean =>
  each.claim !== claim && each.claim.form === 'plain' && each.depth === depth && !each.claim.isWordy;

/** A name before a version may be the product's, and then its heading is a release's, or another thing's: `Node 18.0`. */
function judgeName(heading: Claimed, { claimed, title }: Around): Verdict {
  const { claim, depth } = heading;
  const like = claimed.filter(({ claim: { form, product } }) => form === claim.form && product === claim.product);
  if (like.some((each) => each.claim.isCertain) || isNamedIn(title, claim.product)) return 'begins';
  const plain = claimed.filter((each) => isPlain(each) && each.depth <= depth);
  if (plain.length > 0) return fits(heading, plain) ? 'doubtful' : 'none';
  if (claim.isIntroduced || like.length > 1) return 'begins';
  const isOnlyName = !claimed.some((each) => each.claim.form === 'product' && each.claim.product !== claim.product);
  const isNumbered = claim.version.split('.').length > 2 || /\bv\d/iu.test(heading.text);
  return isOnlyName && isNumbered ? 'begins' : 'doubtful';
}

const isPlain = ({ claim: { form, isWordy } }: Claimed): boolean =>
  (form === 'plain' || form === 'package') && !isWordy;

const isNamedIn = (title: Heading | undefined, product: string): boolean =>
  product.length > 1 && title !== undefined && title.claim === undefined && keyOf(title.text).includes(product);

/** Whether its version lies between those before and after it. */
function fits({ line, claim: { version } }: Claimed, plain: readonly Claimed[]): boolean {
  const before = plain.filter((each) => each.line < line).at(-1)?.claim.version ?? version;
  const after = plain.find((each) => each.line > line)?.claim.version ?? version;
  return (
    !(isOlder(before, version) && isOlder(after, version)) && !(isOlder(version, before) && isOlder(version, after))
  );
}
