import { param } from '../../command/param.ts';

export const configFlag = param.file('Use the inbox of svc webhooks serve with this configuration');

export const accountFlag = param.text('Of several accounts in that inbox only this one', { placeholder: 'NAME' });
