import { orElse } from '../errors.ts';

/** Where something is kept, as a user names it: `neither` is what was meant for a database and no name for a file. */
export type PlaceKind = 'url' | 'file' | 'neither';

export const isPostgresUrl = (text: string): boolean => /^postgres(?:ql)?:\/\/(?:.*[^\s"'`])?$/iu.test(text);

/**
 * One reading only: a password that holds `/`, `?`, `#` or `@` as it is makes a part of it look like a host, a database
 * or an option, which svc would show, and ask the name server for.
 */
const oneReading =
  /^postgres(?:ql)?:\/\/(?:[^@/?#]*@)?(?:\[[\da-f:.]+\]|[^\s:@/?#[\]]*)(?::\d{1,5})?(?:\/[^\s@/?#]*)?(?:\?[^\s@#]*)?$/iu;

const isUnambiguous = (url: string): boolean =>
  oneReading.test(url) && orElse(() => decodeURIComponent(url), undefined) !== undefined;

/** What a shell, a YAML file or `docker --env-file` may leave around a text; a function, since V8 takes long to read a class of Unicode. */
const around = (): RegExp => /^[\s\p{Cf}"'`“”‘’«»]+|[\s\p{Cf}"'`“”‘’«»]+$/gu;

/** Looked for in the text without what is around it. A drive of Windows has one letter, and is no scheme. */
const unlikeFiles: readonly RegExp[] = [
  /:\/\//u,
  /^[a-z][a-z\d+.-]+:\//iu,
  /^postgres(?:ql)?(?:[:;]|\W*\/\/)/iu,
  // The other notation of Postgres, and that of .NET and ODBC.
  /^(?:host(?:addr)?|port|db ?name|database|server|service|user(?: ?(?:id|name))?|uid|pwd|pass(?:word|file)?|sslmode|data source|driver|dsn)\s*=/iu,
  /(?:^|[\s;&?])(?:password|pwd)\s*=/iu,
  // `ada:secret@host` without its scheme; a password may hold slashes.
  /[^/\\:]+:[^/\\]+@/u,
  /^[^/\\:]{2,}:[^\\]*@/u,
];

/** A database that is misspelt would become a file of that name: with a password in it, for everybody to see. */
export function kindOfPlace(text: string): PlaceKind {
  if (isPostgresUrl(text)) return isUnambiguous(text) ? 'url' : 'neither';
  const bare = text.replaceAll(around(), '');
  // Who writes it so means a file.
  if (/^\.{1,2}\//u.test(bare)) return 'file';
  return unlikeFiles.some((pattern) => pattern.test(bare)) ? 'neither' : 'file';
}

/** How to write it; says nothing of the text itself, which may hold a password. */
export function placeHint(text: string): string {
  if (isPostgresUrl(text))
    return 'This URL can be read in several ways: write %2F for /, %3F for ?, %23 for #, %40 for @ and %25 for % in its password.';
  const isWrapped = isPostgresUrl(text.replaceAll(around(), ''));
  return isWrapped
    ? 'There are quotation marks or blanks around the URL, as docker --env-file keeps them: take them away.'
    : 'A URL looks like postgres://user@host:5432/database';
}

/**
 * The library reads these three as verify-full, and says so on standard error, in words about its own next version. Whoever
 * asks it for the modes of libpq (`uselibpqcompat=true`) has them.
 */
export const withStrictTls = (url: string): string =>
  /[?&]uselibpqcompat=true(?:&|$)/u.test(url)
    ? url
    : url.replaceAll(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/gu, 'verify-full');
