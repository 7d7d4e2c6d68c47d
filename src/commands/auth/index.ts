import type { Group } from '../../command/command.ts';
import { authKeep } from './keep.ts';
import { authList, authSwitch } from './list.ts';
import { authLogin } from './login.ts';
import { authLogout } from './logout.ts';
import { authRefresh } from './refresh.ts';
import { authStatus } from './status.ts';
import { authToken } from './token.ts';

export const auth: Group = {
  name: 'auth',
  summary: 'Logins and credentials',
  commands: [authLogin, authStatus, authRefresh, authKeep, authList, authSwitch, authToken, authLogout],
};
