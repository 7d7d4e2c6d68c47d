import type { Group } from '../../command/command.ts';
import { demo } from './demo.ts';
import { execOver, type IsCommand } from './exec.ts';
import { start } from './start.ts';

export const sandboxOver = (isCommand: IsCommand): Group => ({
  name: 'sandbox',
  summary: 'The whole service on this machine, to try and to test against',
  commands: [start, execOver(isCommand), demo],
});
