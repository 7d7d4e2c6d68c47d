import { listMeetings } from '../../api/meetings.ts';
import { defineCommand, type TopGroup } from '../../command/command.ts';
import { listView } from '../../command/listing.ts';
import { param } from '../../command/param.ts';
import { connect } from '../../http/call/call.ts';

const columns = [
  { path: 'id', header: 'ID', rank: 1 },
  { path: 'name', header: 'Name', rank: 2 },
  { path: 'duration_minutes', header: 'Duration', as: 'minutes', rank: 3 },
  { path: 'location_type', header: 'Location', as: 'whole', rank: 5 },
  { path: 'url', header: 'Page', rank: 4 },
] as const;

const list = defineCommand({
  name: 'list',
  summary: listMeetings.summary,
  details: 'Needs the first-party machine-to-machine token: svc login --with-m2m-token, or SVC_M2M_TOKEN.',
  operation: listMeetings,
  flags: { account: param.requiredId('The account id') },
  examples: ['svc meetings list --account 1'],
  async run(ctx, { flags, settings }) {
    const service = await connect(ctx, settings);
    const input = { params: { account: flags.account } };
    return listView(service, listMeetings, input, { columns });
  },
});

export const meetings: TopGroup = { commands: [list] };
