import { versionPattern } from './version.ts';

/** What a heading says of a version, by its own words alone. */
export type Claim = {
  /**
   * `plain`: it begins with the version. `package`: `web@1.2.0`. `product`: a name stands before it. `between`: changes
   * from one version to another. `series`: `1.x`. `unreleased`: it has no version yet; `next` is a name for that.
   */
  readonly form: 'plain' | 'package' | 'product' | 'between' | 'series' | 'unreleased' | 'next';
  readonly version: string;
  /** The package's name of `web@1.2.0`. */
  readonly name: string | undefined;
  /** The name before the version, in a form that can be compared. */
  readonly product: string;
  readonly isUnreleased: boolean;
  /** It was taken back after it was released: `[YANKED]`. */
  readonly isYanked: boolean;
  /** The version itself is a day. */
  readonly isDay: boolean;
  /** It says more than any title with a number in it: a date, a mark, "Release Notes". */
  readonly isCertain: boolean;
  /** Words stand before the product or the version that only a release's heading has: `What's new in`. */
  readonly isIntroduced: boolean;
  /** Words follow the version as in a sentence: `1.1 compatibility`. */
  readonly isWordy: boolean;
};

const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?';
const day = String.raw`\d{1,2}(?:st|nd|rd|th)?`;
const date = [
  String.raw`\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)`,
  String.raw`\d{1,2}[-/.]\d{1,2}[-/.]\d{4}(?!\d)`,
  String.raw`${month}\s+${day},?\s+\d{4}`,
  String.raw`${day}[\s-]+${month},?[\s-]+\d{4}`,
  String.raw`${month},?\s+\d{4}`,
].join('|');
const open = '[\\[("\'`]{0,4}';
const close = '\\.?[\\])"\'`]{0,4}(?=$|[\\s:;,()/|?!–—-])';
const word = String.raw`[\p{L}\p{N}&+.'’_/@-]+`;

const leadingDate = new RegExp(String.raw`^[\[(]?(?:${date})(?:t[\d:.z+-]+)?[\])]?(?:\s*[-–—:|/,]+\s*|\s+)`, 'iu');
const anyDate = new RegExp(String.raw`(?<![\w.])(?:${date})`, 'iu');
const plain = new RegExp(
  `^${open}(?:(?:version|release|ver\\.?|rel\\.?)[\\s:#.-]+)?${open}` +
    `(?:(?<name>@?[a-z][\\w./-]*)@)?v?\\.?(?<version>${versionPattern})${close}(?<rest>.*)$`,
  'iu',
);
const product = new RegExp(
  String.raw`^(?<product>(?=[\p{L}@])${word}(?:\s+${word}){0,5}?)(?:\s+[-–—:]?\s*|[,:/-]\s*)` +
    String.raw`[(\[]?(?:(?:version|release|ver\.?)\s+)?[(\[]?(?<v>v?)(?<version>\d+(?:\.\d+){1,3}(?:[-+.]?[a-z0-9][\w.+-]*)?)${close}(?<rest>.*)$`,
  'iu',
);
const between = new RegExp(
  String.raw`^(?:(?:major|notable|all|important)\s+)*changes\s+(?:between|from)\s+(?:${word}\s+){0,5}?v?\d[\w.]*` +
    String.raw`\s+(?:and|to|-+>|→)\s+(?:${word}\s+){0,5}?v?(?<version>${versionPattern})${close}(?<rest>.*)$`,
  'iu',
);
const series =
  /^(?:(?:version|release)s?\s+)?v?(?<version>\d+(?:\.\d+)*\.[x*])(?:\s+(?:releases?|series|versions?|changes|branch|line))?$/iu;
const introduction =
  /^(?:what[’']?s\s+new\s+(?:in|for)|new\s+in|changes\s+(?:in|for)|release\s+notes(?:\s+(?:for|of))?|notes\s+(?:for|on)|announcing|introducing)[\s:–—-]+/iu;
const preRelease = /^\s+(?<stage>alpha|beta|preview|milestone|rc|release candidate)\s*(?<number>\d*)(?=$|\s*[^\s\w])/iu;

/** Words of titles and sentences. A release's heading may hold one, but not beside its version and nothing else. */
const sentenceWords = new Set(
  (
    'a about above after all and any are as at be before below between breaking bug bump by can change changed changelog changes ' +
    'compat compatibility compatible dependencies deprecated deprecations docs drop dropped dropping end feature features fix fixed ' +
    'fixes for from guide has have highlights history how if important improvements in into is issues known log migrate migrating ' +
    'migration min minimum must need needs new news no not notes now of old older on only onwards or over prior recommended ' +
    'regression regressions release released releases removed require required requirements requires series since step steps ' +
    'summary support supported supporting supports switch tested than that the to under until up update updated updates updating ' +
    'upgrade upgrades upgrading use users uses using versions via vs was when where will with without you your'
  ).split(' '),
);
/** These say what kind of release it is. */
const kindWords =
  /^(?:released?|release notes|final|stable|yanked|lts|current|hotfix|enterprise|community|notes|edition)\b/iu;

const marked = /\b(?:unreleased|not (?:yet )?released|tbd|tba)\b/iu;
/** A date that is to be filled in: `2026-10-xx`, `20XX-XX-XX`, `xx.01.2026`, `[xx XXX xxxx]`. */
const markedDate =
  /\b(?:\d{4}[-/.](?:\d\d|xx|\?\?)[-/.](?:xx\b|\?\?)|\d\dxx\b|x{2,4}[-/. ](?:\d\d|x{2,3})[-/. ](?:\d{4}|x{2,4})\b)/iu;
const markedWhole =
  /^(?:to be (?:released|determined|announced|decided)|in (?:progress|development)|under development|work in progress|wip|dev|pending|planned|proposed|tentative|draft|unpublished|upcoming|(?:coming )?soon|next|future|release\s?date|y{4}[-/.]m{2}[-/.]d{2}|\?{2,}[?/. -]*)$/iu;
const unfinished = /[-.](?:wip|snapshot|dev(?:\.?0)?)$/iu;

const yanked = /\b(?:yanked|withdrawn|retracted|recalled)\b/iu;

/** Whether words beside a version say that it is still to come. */
function saysUnreleased(words: string): boolean {
  if (marked.test(words) || markedDate.test(words)) return true;
  const bare = words
    .replaceAll(/[()[\]*_:,|–—]/gu, ' ')
    .trim()
    .replace(/^[-/\s]+/u, '')
    .replace(/^release(?:d)?(?:\s+(?:date|on))?\s+(?=\S)/iu, '');
  return markedWhole.test(bare.replaceAll(/\s+/gu, ' ').trim());
}

/** Nobody writes a heading of this length. */
const longest = 500;

const markedLine = /^(?:unreleased|not (?:yet )?released|tbd|tba)$/iu;

/**
 * Whether the line below a heading says nothing but that: `_Unreleased_`, `*Release date: 2026-??-??*`.
 */
export function isUnreleasedLine(line: string): boolean {
  const bare = line.replaceAll(/[()[\]*_]/gu, '').trim();
  const [, label, words = ''] = /^(release(?:d)?(?:\s+(?:date|on))?\s*:?\s+)?(.*)$/isu.exec(bare) ?? [];
  return markedLine.test(words) || (label !== undefined && words.length < 40 && saysUnreleased(words));
}

export const hasDate = (words: string): boolean => anyDate.test(words);

/** Whether the line below a heading begins with that: `**Yanked** because of …`. */
export const isYankedLine = (line: string): boolean => /^[\s>*_[(]*yanked\b/iu.test(line);

/** What a heading claims; undefined where it names no version. */
export function claimOf(heading: string): Claim | undefined {
  if (heading.length > longest) return undefined;
  const text = heading
    .replaceAll(/\s+/gu, ' ')
    .replace(/^([=~^*#"'`+-])\1{2,} /u, '')
    .replace(/^(?::[a-z0-9_+-]+:\s*)+/iu, '')
    .replace(/^[^\p{L}\p{N}@[("'`]+/u, '')
    .trim();
  const early = nextOne(text);
  if (early) return early;
  const dated = leadingDate.exec(text)?.[0];
  if (dated !== undefined) {
    const behind = named(text.slice(dated.length));
    if (behind && !behind.isDay && !behind.isWordy) return { ...behind, isCertain: true };
  }
  return named(text);
}

const nothing = {
  version: '',
  name: undefined,
  product: '',
  isUnreleased: true,
  isYanked: false,
  isDay: false,
  isIntroduced: false,
  isWordy: false,
};

const nextNames =
  /^\[?(?:head|master|main|trunk|next(?: release| version)?|dev(?:elop|elopment)?|upcoming(?: release| changes| version)?|(?:work )?in progress|wip|not (?:yet )?released|to be released|tbd|tba)\]?(?<rest>$|\s*[([–—:-].*$)/iu;

function nextOne(text: string): Claim | undefined {
  if (/^\[?unreleased\b/iu.test(text)) return { ...nothing, form: 'unreleased', isCertain: true };
  const rest = nextNames.exec(text)?.groups?.rest;
  if (rest === undefined || (rest !== '' && !saysUnreleased(rest))) return undefined;
  return { ...nothing, form: 'next', isCertain: rest !== '' };
}

function named(text: string): Claim | undefined {
  const many = series.exec(text)?.groups?.version;
  if (many) return { ...nothing, form: 'series', version: many, isUnreleased: false, isCertain: true };
  const begun = plain.exec(text)?.groups;
  if (begun?.version)
    return claim({ form: begun.name ? 'package' : 'plain', name: begun.name }, begun.version, begun.rest);
  const changed = between.exec(text)?.groups;
  if (changed?.version) return claim({ form: 'between' }, changed.version, changed.rest);
  return productIn(text);
}

/** Of the names of what is to come those that a product may have, too. */
const productNames = /^(?:next|head|master|main|trunk|dev|draft|future|soon|pending)$/iu;

/** A day that has come, and nothing else: what is planned names its day in other words, or one to come. */
function isPastDay(rest: string): boolean {
  const [, day = ''] = /^[\s([–—:-]*(\d{4}-\d\d-\d\d)[)\]]?\s*$/u.exec(rest) ?? [];
  return day !== '' && Date.parse(day) <= Date.now();
}

function productIn(text: string): Claim | undefined {
  const intro = introduction.exec(text)?.[0] ?? '';
  const body = text.slice(intro.length);
  const bare = intro === '' ? undefined : plain.exec(body)?.groups;
  const found = bare ?? product.exec(body)?.groups;
  if (!found?.version) return undefined;
  const words = (found.product ?? '').toLowerCase().split(/[\s/]+/u);
  if (words.some((each) => sentenceWords.has(each))) return undefined;
  const rest = found.rest ?? '';
  if (/\.[x*]$/iu.test(found.version))
    return { ...nothing, form: 'series', version: found.version, isUnreleased: false, isCertain: true };
  const isPlanned =
    found.product !== undefined &&
    (nextNames.test(found.product) || saysUnreleased(found.product)) &&
    !(productNames.test(found.product) && isPastDay(rest));
  const marks = claim({ form: 'product', product: keyOf(found.product ?? '') }, found.version, rest);
  const made = { ...marks, isUnreleased: marks.isUnreleased || isPlanned };
  if (made.isWordy || (/^\s+\p{L}/u.test(rest) && !made.isCertain && !kindWords.test(rest.trim()))) return undefined;
  const isNotes = /^\s+release notes\b/iu.test(rest);
  // `Widget (2.5.0)`: who puts the number in brackets behind a name, and nothing more, writes of that version.
  const isBracketed = rest.trim() === '' && /[([](?:(?:version|release|ver\.?)\s+)?v?[^\s()[\]]+[)\]]$/iu.test(body);
  return {
    ...made,
    isIntroduced: intro !== '' || isNotes,
    isCertain: isNotes || isBracketed || made.isUnreleased || (made.isCertain && !isRemark(rest)),
  };
}

/** `Python 3.7 (end of life: 2023-06-27)` has a date and is no release. */
const isRemark = (rest: string): boolean =>
  wordsOf(rest).some((each) => sentenceWords.has(each) && !/^(?:on|releas|since|notes)/u.test(each));

const wordsOf = (text: string): string[] =>
  text
    .trim()
    .toLowerCase()
    .split(/[^\p{L}\p{N}'’]+/u);

type Known = Pick<Claim, 'form'> & { readonly name?: string | undefined; readonly product?: string };

function claim({ form, name, product = '' }: Known, number: string, after = ''): Claim {
  const { stage, number: count = '' } = preRelease.exec(after)?.groups ?? {};
  const isPlainNumber = /^[\d.]+$/u.test(number);
  const joined = stage && isPlainNumber ? `${number}-${/candidate/iu.test(stage) ? 'rc' : stage}${count}` : number;
  const rest = joined === number ? after : after.replace(preRelease, '');
  const isUnreleased = saysUnreleased(rest) || unfinished.test(number);
  const isDated = anyDate.test(rest);
  return {
    ...{ form, name, product, isUnreleased, isYanked: yanked.test(rest) },
    version: joined.replace(/[.+-]+$/u, ''),
    isDay: /^\d{4}-\d{2}-\d{2}$/u.test(number),
    isCertain: isDated || isUnreleased,
    isIntroduced: false,
    isWordy: !isDated && !isUnreleased && isSentence(rest, number),
  };
}

/** A release may have a name behind its number; a sentence is about something else. */
function isSentence(rest: string, number: string): boolean {
  if (!/^\s+\p{L}/u.test(rest) || kindWords.test(rest.trim()) || /^\d{4}-\d{2}-\d{2}$/u.test(number)) return false;
  if (wordsOf(rest).some((each) => sentenceWords.has(each))) return true;
  return /^\s+\p{Ll}/u.test(rest) && number.split('.').length < 3;
}

/** `D-Bus` and `dbus` are one name. */
export const keyOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
