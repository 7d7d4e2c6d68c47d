import type { Ask } from '../context.ts';
import { Failure } from '../errors.ts';

const cannot = async (): Promise<never> => {
  throw new Failure('usage', 'Questions cannot be asked yet.');
};

export const createAsk = (): Omit<Ask, 'canAsk'> => ({
  confirm: cannot,
  text: cannot,
  secret: cannot,
  choose: cannot,
  edit: cannot,
});
