import { digestOfSettings, type Found } from '../journal/on-disk.ts';
import type { Plan } from '../rows/plan.ts';

/** The runs that speak of the rows of a plan. */
export type Judges = ReturnType<typeof judgesOf>;

/** `settings`: the digest of all that the command line says. */
export function judgesOf(all: readonly Found[], { refs, givenAt }: Pick<Plan, 'refs' | 'givenAt'>, settings: string) {
  const isOfRun = ({ past }: Found) => past.header.settings === settings;
  const digests = new Map<string, string>();
  const digestOf = (given: string): string => {
    const known = digests.get(given) ?? digestOfSettings(given);
    digests.set(given, known);
    return known;
  };
  return {
    /** Those with the flags of this run come first. */
    all: [...all.filter(isOfRun), ...all.filter((one) => !isOfRun(one))],
    /**
     * Whether that run gave to a row, by its `ref`, what this one gives to it. Else a row with the same cells is other
     * work, unless the very same is sent for it: what a run gave to each of its rows is not written down.
     */
    isSame(from: Found, ref: string) {
      if (isOfRun(from)) return true;
      const place = refs.names.find(ref);
      const given = place < 0 ? undefined : givenAt(place);
      return given !== undefined && digestOf(given) === from.past.header.settings;
    },
  };
}
