import { openStore } from '../auth/store-file.ts';
import type { TokenStore } from '../context.ts';

type Options = Omit<Parameters<typeof openStore>[0], 'keyring'> & {
  readonly env: Readonly<Record<string, string | undefined>>;
};

export const openTokenStore = async ({ env: _, ...options }: Options): Promise<TokenStore> => openStore(options);
