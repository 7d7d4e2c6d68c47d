import { listCalls } from '../../api/calls.ts';
import type { TopGroup } from '../../command/command.ts';
import { fromOperation } from '../../command/from-operation.ts';

export const calls: TopGroup = {
  commands: [
    fromOperation('list', listCalls, {
      columns: [
        { path: 'phone_call_id', header: 'ID', rank: 1 },
        { path: 'contact_id', header: 'Contact', rank: 2 },
        { path: 'from', header: 'From', as: 'phone', rank: 7 },
        { path: 'to', header: 'To', as: 'phone', rank: 4 },
        { path: 'status', header: 'Status', rank: 5 },
        { path: 'duration', header: 'Duration', as: 'seconds', rank: 6 },
        { path: 'interest_level', header: 'Interest', as: 'whole', rank: 8 },
        { path: 'start_time', header: 'Started', rank: 3 },
      ],
      sift: { contact: true },
      examples: ['svc calls list', 'svc calls list --contact 7', 'svc calls list --all --json'],
    }),
  ],
};
