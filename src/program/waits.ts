import { type Context, withContext } from '../context.ts';

/** Each request, and each look into the store of logins, is a wait that is shown where it takes long. */
export function showingWaits(ctx: Context): Context {
  let open = 0;
  const shown = async <T>(text: string, act: () => Promise<T>): Promise<T> => {
    if (open++ === 0) ctx.progress(text, 'request');
    try {
      return await act();
    } finally {
      if (--open === 0) ctx.progress(undefined, 'request');
    }
  };
  const inStore = <T>(act: () => Promise<T>) => shown('Waiting for the stored logins', act);
  const exchange: Context['exchange'] = (request) =>
    shown(`Waiting for ${hostOf(request.url)}`, () => ctx.exchange(request));
  const tokens: Context['tokens'] = {
    read: (...of) => inStore(() => ctx.tokens.read(...of)),
    update: (...of) => inStore(() => ctx.tokens.update(...of)),
    names: (...of) => inStore(() => ctx.tokens.names(...of)),
    where: (...of) => inStore(() => ctx.tokens.where(...of)),
  };
  return withContext(ctx, { exchange, tokens });
}

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'the service');

/**
 * What does not end at once says that it was understood, unless the command says so itself. `notices`: how many were
 * said. Returns what to call when it has ended.
 */
export function acknowledgeInterrupt({ signal, notice }: Context, notices: () => number): () => void {
  let due: NodeJS.Timeout | undefined;
  const begin = () => {
    const before = notices();
    const say = () => {
      if (notices() === before) notice('Finishing what is in flight. Ctrl-C again ends at once.');
    };
    if (signal.reason === 'SIGINT') due = setTimeout(say, 300).unref();
  };
  signal.addEventListener('abort', begin, { once: true });
  return () => {
    clearTimeout(due);
    signal.removeEventListener('abort', begin);
  };
}
