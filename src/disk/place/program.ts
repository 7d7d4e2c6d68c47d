import { access, constants } from 'node:fs/promises';
import { isDone } from '../../promise/whether.ts';

/** Whether there is something at the path that this user may run. */
export const isProgram = (path: string): Promise<boolean> => isDone(access(path, constants.X_OK));
