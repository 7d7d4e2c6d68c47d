/** Lines like `:release-date: 29 December, 2025` right below a version's title: they tell of the release, and are no news. */
export type ReleaseFields = {
  /** What they say of the day, or of how far the release is, each as it stands. */
  readonly said: readonly string[];
  /** The text with those lines blank: of the same length, so that places in it stay. */
  readonly rest: string;
};

const field = /^:([^:`\n]+):(?:[ \t]+(.*))?$/su;
const dates = /^(?:date|release|released|release[ -]?date|date[ -]of[ -]release|released[ -]on)$/iu;
const states = /^(?:status|state)$/iu;
const others =
  /^(?:release[d]?[ -]by|release[ -]manager|by|authors?|maintainers?|organization|contact|address|copyright|version|revision|tag|code[ -]?name)$/iu;

/** `text` begins right behind the title. Fields of any other name stay, and so does every field further down. */
export function releaseFields(text: string): ReleaseFields {
  const lines = text.split('\n');
  const said: string[] = [];
  let isDropped: boolean | undefined;
  for (const [i, line] of lines.entries()) {
    const [, name, value = ''] = field.exec(line) ?? [];
    // An indented line belongs to the field above it; without one it is a quote.
    const isMore = isDropped !== undefined && /^[ \t]+\S/u.test(line);
    if (name === undefined && !isMore && line.trim() !== '') break;
    if (name !== undefined) {
      isDropped = [dates, states, others].some((names) => names.test(name));
      if (dates.test(name)) said.push(`release date: ${value.trim()}`);
      if (states.test(name)) said.push(value.trim());
    }
    if (isDropped) lines[i] = ' '.repeat(line.length);
  }
  return { said, rest: lines.join('\n') };
}
