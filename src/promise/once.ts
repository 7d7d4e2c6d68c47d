/** Done when it is first asked for; whoever asks later gets the same, a failure too. */
export function once<T>(work: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    known ??= { value: work() };
    return known.value;
  };
}

type Once<T> = (() => Promise<T>) & {
  readonly known: () => Promise<T> | undefined;
  /** It is done once more for whoever asks next. */
  readonly again: () => void;
};

/** Done once; what failed is tried again by whoever asks next. */
export function onceDone<T>(work: () => Promise<T>): Once<T> {
  let known: Promise<T> | undefined;
  const ask = () => {
    const doing = known ?? work();
    known = doing;
    doing.catch(() => {
      if (known === doing) known = undefined;
    });
    return doing;
  };
  const again = (): void => {
    known = undefined;
  };
  return Object.assign(ask, { known: () => known, again });
}
