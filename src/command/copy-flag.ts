import { param } from './param.ts';

const where = 'Where the copy is: a file or postgres://HOST/DATABASE';

const placeOf = (description: string) => param.text(description, { placeholder: 'PLACE', completes: 'files' });

/** Of every command that asks the copy. */
export const dbFlag = { db: placeOf(`${where} (default: SVC_MIRROR_DB, else the state folder)`) };
