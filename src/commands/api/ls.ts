import { operationList } from '../../api/index.ts';
import type { View } from '../../output/view.ts';

/** Every operation, from the table itself. */
export function apiLs(): View {
  const records = operationList.map(({ id, method, path, scope, credentials, safety, summary, command }) => ({
    operation: id,
    method,
    path,
    scope,
    command: command.join(' '),
    credentials,
    safety,
    summary,
  }));
  return { data: { shape: 'list', records, columns: ['method', 'path', 'scope', 'command'] }, read: true };
}
