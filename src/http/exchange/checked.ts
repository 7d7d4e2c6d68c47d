import { type Context, withContext } from '../../context.ts';

/** Everything as it is, but `check` is asked right before each request: where it throws, nothing is sent. */
export function checked<C extends Pick<Context, 'exchange'>>(ctx: C, check: () => void): C {
  const exchange: Context['exchange'] = async (request) => {
    check();
    return ctx.exchange(request);
  };
  return withContext(ctx, { exchange });
}
