import { Failure } from '../errors.ts';
import type { View } from '../output/view.ts';
import { endsAll, failedInWords } from './several-ended.ts';

/**
 * Several records, each by itself and in order: one that cannot be read keeps none of the others back. Exit 8 where some were
 * read and some not. Where none was, or where every other would end alike, it is the first Failure itself.
 */
export async function eachRead(
  ids: readonly (number | undefined)[],
  readOne: (id: number | undefined) => Promise<unknown>,
): Promise<Pick<View, 'notes' | 'failure'> & { readonly records: unknown[] }> {
  const records: unknown[] = [];
  const failed: Failed[] = [];
  for (const id of ids) {
    try {
      records.push(await readOne(id));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (endsAll(error)) {
        if (records.length === 0) throw error;
        return { records, notes: told(failed), failure: error };
      }
      failed.push({ id, failure: error });
    }
  }
  const [first] = failed;
  if (!first) return { records };
  if (records.length === 0) {
    const { id = 0, failure } = first;
    throw new Failure(failure.kind, failedInWords(id, failure), { ...failure, cause: failure });
  }
  const failure = new Failure('partial', `${failed.length} of ${ids.length} could not be read.`, { isWhole: true });
  return { records, notes: told(failed), failure };
}

type Failed = { readonly id: number | undefined; readonly failure: Failure };

const told = (failed: readonly Failed[]): string[] => failed.map(({ id = 0, failure }) => failedInWords(id, failure));
