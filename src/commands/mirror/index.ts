import type { TopGroup } from '../../command/command.ts';
import { copyChanges } from './changes.ts';
import { exportTheCopy } from './export.ts';
import { forgetTheCopy } from './forget.ts';
import { pullCopy } from './pull.ts';
import { copySchema } from './schema.ts';
import { searchCopy } from './search.ts';
import { queryCopy } from './sql.ts';
import { copyStatus } from './status.ts';

export const mirror: TopGroup = {
  commands: [pullCopy, copyStatus, queryCopy, searchCopy, copyChanges, exportTheCopy, copySchema, forgetTheCopy],
};
