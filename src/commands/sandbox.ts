import type { Group } from '../cli/command.ts';
import { demo } from './sandbox-demo.ts';
import { exec } from './sandbox-exec.ts';
import { start } from './sandbox-start.ts';

export const sandbox: Group = {
  name: 'sandbox',
  summary: 'The whole service on this machine, to try and to test against',
  commands: [start, exec, demo],
};
