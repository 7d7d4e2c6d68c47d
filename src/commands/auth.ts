import type { Group } from '../cli/command.ts';
import { authList, authSwitch } from './auth-list.ts';
import { authLogin } from './auth-login.ts';
import { authLogout } from './auth-logout.ts';
import { authRefresh } from './auth-refresh.ts';
import { authStatus } from './auth-status.ts';
import { authToken } from './auth-token.ts';

export const auth: Group = {
  name: 'auth',
  summary: 'Logins and credentials',
  commands: [authLogin, authStatus, authRefresh, authList, authSwitch, authToken, authLogout],
};
