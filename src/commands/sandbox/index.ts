import type { Group } from '../../command/command.ts';
import { demo } from './demo.ts';
import { exec } from './exec.ts';
import { start } from './start.ts';

export const sandbox: Group = {
  name: 'sandbox',
  summary: 'The whole service on this machine, to try and to test against',
  commands: [start, exec, demo],
};
