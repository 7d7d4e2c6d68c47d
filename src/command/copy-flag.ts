import { param } from './param.ts';

/** Of every command that asks the copy. */
export const dbFlag = {
  db: param.text(
    'Where the copy is: a file or postgres://HOST/DATABASE (default: SVC_MIRROR_DB, else the state folder)',
    {
      placeholder: 'PLACE',
      completes: 'files',
    },
  ),
};
