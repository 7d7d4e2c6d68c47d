import { operationList as all } from '../../api/index.ts';
import { Failure } from '../../errors.ts';
import { methods, operationAt } from '../../http/exchange/raw.ts';
import { listed } from '../../text/listed.ts';
import { nearest } from '../../text/near.ts';
import { shellWord } from '../../text/shell-word.ts';

const firstSegment = (path: string): string => /^\/?([^/?#]*)/u.exec(path)?.[1] ?? '';

/** A word that is no path, and no request to send: a method alone, an operation's name, or what no path begins with. */
export function refuseNoPath(typed: string): void {
  const method = methods.find((one) => one === typed.toUpperCase());
  if (method) {
    throw new Failure('usage', `PATH is missing: ${method} is a method.`, {
      hint: `Give both, for example: svc api /contacts -X ${method}`,
    });
  }
  const operation = all.find(({ id }) => id === typed);
  if (operation) {
    const flag = operation.method === 'GET' ? '' : ` -X ${operation.method}`;
    throw new Failure('usage', `${typed} is the name of an operation, and svc api takes its path.`, {
      hint: `Run: svc api ${operation.path}${flag}`,
    });
  }
  if (typed.startsWith('/') || /^[a-z][a-z0-9+.-]*:/iu.test(typed) || isBegun(typed)) return;
  throw new Failure('usage', `There is no operation at "${typed}".`, {
    hint: `${nearPath(typed)}Every operation: svc api ls. To send it all the same: svc api ${shellWord(`/${typed}`)}`,
  });
}

const isBegun = (path: string): boolean => all.some((one) => firstSegment(one.path) === firstSegment(path));

function nearPath(typed: string): string {
  const segment = firstSegment(typed);
  const segments = [...new Set(all.map(({ path }) => firstSegment(path)))];
  const meant = nearest(segment, segments) ?? segments.find((one) => segment.length > 2 && one.startsWith(segment));
  return meant === undefined ? '' : `Did you mean /${meant}? `;
}

/** Of a path that the document does not have, or not with this method, a 404 is not about a record. */
export function adviceOnPath(method: string, path: string): string | undefined {
  const bare = path.replace(/\?.*$/u, '');
  const has = methods.filter((one) => operationAt(one, bare) !== undefined);
  if (has.some((one) => one === method)) return undefined;
  if (has.length > 0) return `That path takes ${listed(has, 'or')}, not ${method}. Every operation: svc api ls`;
  return `No operation that svc knows has this path. ${nearPath(bare)}Every operation: svc api ls`;
}
