/**
 * A conversation as it is on the wire, written by hand from the service's description. Lines that begin with `>` are sent, those
 * with `<` must come back: a start line, headers, an empty line, the body. A header that is not written is not looked
 * at; a body is the whole body. `<name>` stands for any text where it is first met, and for that same text later.
 */
export type Transcript = { readonly title: string; readonly exchanges: readonly Exchange[] };

export type Message = {
  readonly start: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};
export type Exchange = { readonly request: Message; readonly response: Message };

/** The transcripts of a text; each begins with a title line, `# …`. */
export function transcriptsOf(text: string): Transcript[] {
  return text
    .split(/^# /mu)
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      return { title: title.trim(), exchanges: exchangesOf(lines) };
    });
}

function exchangesOf(lines: readonly string[]): Exchange[] {
  const exchanges: Exchange[] = [];
  let sent: string[] = [];
  let received: string[] = [];
  for (const line of [...lines, '>']) {
    if (line.startsWith('>') && received.length > 0) {
      exchanges.push({ request: messageOf(sent), response: messageOf(received) });
      [sent, received] = [[], []];
    }
    if (line.startsWith('>')) sent.push(line.slice(2));
    else if (line.startsWith('<')) received.push(line.slice(2));
    else if (line.trim() !== '') throw new Error(`neither sent nor received: ${line}`);
  }
  return exchanges;
}

function messageOf([start = '', ...lines]: readonly string[]): Message {
  const empty = lines.indexOf('');
  const headers = empty < 0 ? lines : lines.slice(0, empty);
  return {
    start,
    headers: Object.fromEntries(headers.map((line) => line.split(/: (.*)/su).slice(0, 2) as [string, string])),
    // A form that is too long for a line goes on in the next.
    body: empty < 0 ? '' : lines.slice(empty + 1).join(''),
  };
}

export type Known = Map<string, string>;

const name = /<(\w+)>/gu;

/** The text with the names that are known put in. */
export const filledIn = (text: string, known: Known): string =>
  text.replaceAll(name, (whole, of: string) => known.get(of) ?? whole);

/** Whether a text is the expected one; the names that it gives values to become known. */
export function agrees(expected: string, actual: string, known: Known): boolean {
  const names: string[] = [];
  const pattern = filledIn(expected, known)
    .split(name)
    .map((part, at) => {
      if (at % 2 === 0) return part.replaceAll(/[.*+?^${}()|[\]\\]/gu, '\\$&');
      names.push(part);
      return '([^"&]*)';
    });
  const found = new RegExp(`^${pattern.join('')}$`, 'u').exec(actual);
  names.forEach((of, at) => {
    if (found) known.set(of, found[at + 1] ?? '');
  });
  return found !== null;
}
