import type { Copy } from '../mirror/store/open-copy.ts';
import type { Store } from '../mirror/tables/store.ts';

/** What is open of the copy: each is closed once, however long an error lasts. */
export function openStores() {
  const stores = new Set<Store>();
  let isOver = false;
  const close = async (store: Store): Promise<void> => {
    if (stores.delete(store)) await store.close().catch(() => {});
  };
  return {
    close,
    noted(copy: Copy): Copy {
      stores.add(copy.store);
      // It was being opened while everything was closed.
      if (isOver) void close(copy.store);
      return copy;
    },
    closeAll: async () => {
      isOver = true;
      await Promise.all([...stores].map(close));
    },
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
