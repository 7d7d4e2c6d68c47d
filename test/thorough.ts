/** `.ci/run` plays every combination, and the long tests; `npm test` the combinations that meet each pair of causes at least once. */
export const isThorough = Boolean(process.env.SVC_TEST_THOROUGH);

/** A file that uses a tag which its configuration does not name fails to load, so every configuration names these. */
export const tags = [
  { name: 'long', description: 'Many real processes, databases or browsers, or much chance: for `.ci/run`.' },
];

/**
 * Of `all`, one in `parts`, in turn: where each case has a turn of its own, each of `all` is met by every `parts`th case.
 * A fault that lies in one of them, or in one kind of case, is met; one of a single combination waits for `.ci/run`.
 */
export const inTurn = <T>(all: readonly T[], turn: number, parts: number): readonly T[] =>
  isThorough ? all : all.filter((_, i) => (i + turn) % parts === 0);

/** How often something is drawn by chance. */
export const draws = (usual: number, thorough: number): number => (isThorough ? thorough : usual);
