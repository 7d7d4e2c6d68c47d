import { digestTable } from '../text/digest-table.ts';
import type { EndedRows } from './ended-table.ts';
import type { Plan } from './plan.ts';
import { createNumbering } from './row-requests.ts';

/** The content, as `Plan` says it, of a file with the rejected rows alone: `ended` by position in the file, then `before`. */
export function rejectedContent({ count, problems, refs }: Plan, ended: EndedRows, before: EndedRows): string {
  const content = process.getBuiltinModule('node:crypto').createHash('sha256');
  const names = digestTable();
  const numbered = createNumbering(names);
  for (let index = 0; index < count; index++) {
    const isProblem = problems.has(index) && !before.has(index);
    if (!isProblem && ended.get(index)?.status !== 'rejected') continue;
    const ref = numbered(refs.names.nameAt(index).replace(/~\d+$/u, ''), names.size());
    names.add(ref);
    content.update(ref);
  }
  return content.digest('hex');
}
