/** `v1.2.0`, `refs/tags/v1.2.0` and `1.2.0` name the same version. */
export const bareVersion = (name: string): string =>
  name
    .trim()
    .replace(/^refs\/tags\//u, '')
    .replace(/^v(?=\d)/iu, '');

/** What tells versions apart: `Version 8.4.0`, `[v8.4.0]` and `8.4.0` are one, as in a heading. */
export const versionKey = (name: string): string =>
  bareVersion(
    name
      .trim()
      .replace(/^[[("'`]+([^[\]()"'`]+)[\])"'`]+$/u, '$1')
      .replace(/^(?:version|release|ver\.?|rel\.?)[\s:#.-]+(?=(?:@?[a-z][\w./-]*@)?v?\.?\d)/iu, ''),
  )
    .replace(/^v\.(?=\d)/iu, '')
    .toLowerCase();

/** A number after a `v`, two to four numbers with what may follow them, or a day. */
export const versionPattern = String.raw`\d{4}-\d{2}-\d{2}|\d+(?:\.\d+){1,3}(?:[-+.]?[a-z0-9][\w.+-]*)?|(?<=v)\d+`;

const versionName = new RegExp(
  String.raw`^(?:version\s+|release\s+)?(?:@?[a-z][\w./-]*@)?v?(?:${versionPattern})$`,
  'iu',
);

/** Whether a name, for example of a git tag, is that of a version: `v1.2.0`, `web@1.2.0`. */
export const isVersion = (name: string): boolean => versionName.test(bareVersion(name));

/** By the numbers alone: pre-releases of one version stand side by side. */
export function isOlder(a: string, b: string): boolean {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const at = left.findIndex((number, i) => number !== (right[i] ?? 0));
  if (at < 0) return right.slice(left.length).some((number) => number > 0);
  return (left[at] ?? 0) < (right[at] ?? 0);
}

const numbersOf = (version: string): number[] =>
  (/^\d+(?:[.-]\d+)*/u.exec(version)?.[0] ?? '').split(/[.-]/u).map(Number);

/** `1.20.0` and `1.20.0-rc.1` are of the series 1.20 and of 1.20.x. */
export function isInSeries(version: string, series: string): boolean {
  const start = series.replace(/\.[x*]$/iu, '').toLowerCase();
  const rest = version.toLowerCase();
  return rest.startsWith(start) && rest !== start && !/^\d/u.test(rest.slice(start.length));
}
