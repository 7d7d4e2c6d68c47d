import type { TopGroup } from '../../command/command.ts';
import { demo } from './demo.ts';
import { execOver, type IsCommand } from './exec.ts';
import { start } from './start.ts';

export const sandboxOver = (isCommand: IsCommand): TopGroup => ({
  commands: [start, execOver(isCommand), demo],
});
