import { listCalls } from '../../api/calls.ts';
import type { Group } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';

export const calls: Group = {
  name: 'calls',
  summary: 'Phone calls',
  commands: [
    fromOperation('list', listCalls, {
      columns: [
        'phone_call_id',
        'contact_id',
        'from',
        'to',
        { path: 'status', as: 'status' },
        'duration',
        'interest_level',
        { path: 'start_time', as: 'time' },
      ],
      examples: ['svc calls list', 'svc calls list --all --json'],
    }),
  ],
};
