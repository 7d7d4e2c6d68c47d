/** What may be the public URL; several where nothing tells which. Taken where nothing better comes for so long. */
export type Found = { readonly urls: readonly string[]; readonly afterMs: number };

/** Taken at once. */
export const surely = (url: string | undefined): Found | undefined =>
  url === undefined ? undefined : { urls: [url], afterMs: 0 };

/** A line that leads to a page: of documentation, an account, an error. Its address is no tunnel. */
const ofPage =
  /\b(?:docs?|documentation|details|learn|help|errors?|fail\w*|cannot|can.t|unable|in use|retry\w*|updates?|upgrade|releases?|dashboard|admin|manage|accounts?|log ?in|sign ?(?:in|up)|terms|privacy|support|follow|sponsor|report|issues?|inspect|authenticate\w*)\b/iu;

/** Where pages are. A tunnel of such a name is one in a line that says so, or that names the receiver's port, too. */
const ofSite =
  /^(?:docs?|help|admin|dashboard|api|www|support|status|developers?|blog)\.|^(?:github|gitlab|twitter|x|discord)\.com$/u;

/**
 * The public URL in what any program prints. A line that names the receiver's port names the tunnel; else an address without
 * a path may be it, then one with a path, then one of this machine, which only a sandbox takes.
 */
export function publicUrl(output: string, port: number): Found | undefined {
  const lines = output.split('\n').filter((line) => !ofPage.test(line.replaceAll(httpsUrl, '')));
  const isOwn = (line: string) => new RegExp(`:${port}\\b`, 'u').test(line);
  const [own] = lines.filter(isOwn).flatMap(urlsIn);
  if (own !== undefined) return surely(own);
  const urls = distinct(lines.flatMap((line) => urlsIn(line).filter((url) => !isOfSite(url, line))));
  const bare = urls.filter(isBare);
  if (bare.length > 0) return { urls: bare, afterMs: 2_000 };
  const pages = urls.filter((url) => !ofPage.test(new URL(url).pathname));
  if (pages.length > 0) return { urls: pages, afterMs: 5_000 };
  const local = urlIn(output.match(loopbackUrl)?.[0] ?? '');
  return local === undefined ? undefined : { urls: [local], afterMs: 1_000 };
}

const httpsUrl = /https:\/\/[^\s"'<>\\|\p{Cc}]+/gu;
const loopbackUrl = /http:\/\/(?:127(?:\.\d+){3}|localhost|\[::1\])(?![\w.-])[^\s"'<>\\|\p{Cc}]*/u;

/** A line that calls it the tunnel knows better than its name does; but for what everybody knows. */
function isOfSite(url: string, line: string): boolean {
  const { hostname } = new URL(url);
  if (!ofSite.test(hostname)) return false;
  const saysTunnel = /\b(?:tunnel|forward(?:ing|ed)?|public (?:url|address))\b/iu.test(line.replaceAll(httpsUrl, ''));
  return !saysTunnel || !isBare(url) || !/\..*\./u.test(hostname);
}

const distinct = (urls: readonly string[]): string[] => [
  ...new Map(urls.map((url) => [new URL(url).href, url])).values(),
];

const urlsIn = (line: string): string[] => [...line.matchAll(httpsUrl)].flatMap(([url]) => urlIn(url) ?? []);

/** Without the signs of the sentence that it stands in. */
function urlIn(text: string): string | undefined {
  const url = text.replace(/(?<![.,;:!?)\]}])[.,;:!?)\]}]+$/u, '');
  return URL.canParse(url) ? url : undefined;
}

function isBare(url: string): boolean {
  const { pathname, search, hash } = new URL(url);
  return `${pathname}${search}${hash}` === '/';
}
