import { access, constants } from 'node:fs/promises';

/** Whether there is something at the path that this user may run. */
export const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
