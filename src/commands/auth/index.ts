import type { TopGroup } from '../../command/command.ts';
import { authKeep } from './keep.ts';
import { authList, authSwitch } from './list.ts';
import { authLogin } from './login.ts';
import { authLogout } from './logout.ts';
import { authRefresh } from './refresh.ts';
import { authStatus } from './status.ts';
import { authToken } from './token.ts';

export const auth: TopGroup = {
  commands: [authLogin, authStatus, authRefresh, authKeep, authList, authSwitch, authToken, authLogout],
};
