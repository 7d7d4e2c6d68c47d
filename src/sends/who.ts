import type { SendWish } from '../context.ts';
import { orElse } from '../errors.ts';
import { sanitize } from '../text/sanitize.ts';

/** Who is at work: `ada@laptop`, for an assistant with the name of its program. */
export function whoIs({ face, client }: Pick<SendWish, 'face' | 'client'> = {}): string {
  const os = process.getBuiltinModule('node:os');
  // A container may have a user without a name.
  const user = orElse(() => os.userInfo().username, 'somebody');
  const through =
    face === 'mcp' ? ` (assistant${client === undefined ? '' : `: ${sanitize(client).slice(0, 60)}`})` : '';
  return `${user}@${os.hostname()}${through}`;
}
