import { defineCommand, type Group, type Param } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { installMcp } from './install.ts';

const names: Param<readonly string[] | undefined> = {
  description: 'Only these, by name: listTickets,getTicket',
  placeholder: 'A,B',
  many: true,
  parse: (texts) =>
    texts
      .flatMap((text) => text.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== ''),
};

export const grantFlags = {
  allowWrite: param.toggle('Offer tools that change records and reach no customer'),
  allowSend: param.toggle('Offer tools that may reach customers: replies, events; with --allow-write also publishing'),
  allowWebhooks: param.toggle('Offer tools that create and delete webhook subscriptions'),
  tools: names,
};

type Allowed = { readonly allowWrite: boolean; readonly allowSend: boolean; readonly allowWebhooks: boolean };

const grantOf = ({ allowWrite: write, allowSend: send, allowWebhooks: webhooks }: Allowed) => ({
  write,
  send,
  webhooks,
});

const serveMcp = defineCommand({
  name: 'mcp',
  summary: 'Serve the account to an AI assistant (Model Context Protocol, over standard input and output)',
  details:
    'One tool for each operation, named by its id (listContacts), and contacts_sync. Without flags: read-only tools.\n' +
    'It uses the credentials of the profile, and ends with the client or with Ctrl-C.',
  args: {},
  flags: grantFlags,
  examples: ['svc mcp --allow-write', 'svc mcp --tools listTickets,getTicket', 'svc mcp install print'],
  async run(ctx, { flags, settings }) {
    const { serve } = await import('../../mcp/server.ts');
    await serve(ctx, settings, { ...grantOf(flags), only: flags.tools });
    return { data: { shape: 'nothing' } };
  },
});

export const mcp: Group = {
  name: 'mcp',
  summary: serveMcp.summary,
  itself: serveMcp,
  commands: [installMcp],
};
