import { version } from '../../version.ts';

export const userAgent = `svc/${version}`;
