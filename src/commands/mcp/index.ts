import { defineCommand, type TopGroup } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { streamForms } from '../../config/stream-forms.ts';
import { Failure } from '../../errors.ts';
import type { HttpAddress } from '../../mcp/http.ts';
import { installMcp } from './install.ts';
import { toolFlags } from './tool-flags.ts';

const flags = {
  allowWrite: param.toggle('Offer tools that change records and reach no customer'),
  allowSend: param.toggle('Offer tools that may reach customers: replies, events; with --allow-write also publishing'),
  draftSends: param.toggle('Offer the same tools, and send nothing: each makes a draft that a person approves'),
  allowWebhooks: param.toggle('Offer tools that create and delete webhook subscriptions'),
  ...toolFlags,
  http: param.toggle('Serve over Streamable HTTP on 127.0.0.1 instead, with a key of this run'),
  port: param.integer('Port for --http (default 8979); 0 takes a free one', { max: 65_535 }),
};

const serveMcp = defineCommand({
  name: 'mcp',
  summary: 'Serve the account to an AI assistant (Model Context Protocol)',
  details:
    'Without flags the tools only read. There is one for each operation, named by its id (listContacts), and findContact, findTicket and ' +
    'contacts_sync besides. queryCopy, searchCopy, report and contactHistory ask the copy of the account; findContact asks it first, where ' +
    'there is one. With --draft-sends listDrafts shows what became of drafts. It uses the credentials of the profile, speaks over standard ' +
    'input and output, or with --http over Streamable HTTP, and ends with the client or with Ctrl-C.\n\n' +
    'Some things are commands only, for an assistant that has a shell: svc mirror pull (makes the copy, and brings it up to date), ' +
    '--from FILE (many records), svc watch. The skill tells of them: svc skill install',
  flags,
  forms: streamForms,
  examples: [
    'svc mcp --allow-write',
    'svc mcp --draft-sends',
    'svc mcp --toolsets tickets,contacts',
    'svc mcp --tools listTickets,getTicket',
    'svc mcp --http --port 8979',
    'svc mcp install print',
  ],
  async run(ctx, { flags, settings }) {
    const { allowWrite: write, allowSend, allowWebhooks: webhooks, tools: only } = flags;
    const isMode = allowSend && !flags.draftSends && (await ctx.sends?.mode()) === 'draft';
    if (isMode) ctx.notice('Sends are drafts here (mode draft): --allow-send means --draft-sends.');
    const draftSends = flags.draftSends || isMode;
    const grant = { write, send: allowSend || draftSends, draftSends, webhooks, only, toolsets: flags.toolsets };
    if (flags.http) {
      const { serveHttp } = await import('../../mcp/http.ts');
      const line = ({ url, authorization }: HttpAddress) => `${url}\nAuthorization: ${authorization}`;
      const records = serveHttp(ctx, settings, grant, flags.port ?? usualPort);
      return { data: { shape: 'stream', records, line } };
    }
    if (flags.port !== undefined) throw new Failure('usage', '--port is for --http.', { hint: 'Run: svc mcp --http' });
    const { serveStdio } = await import('../../mcp/transport.ts');
    if (ctx.stdin.isTTY && !settings.quiet) {
      ctx.notice('Waiting for an assistant to speak the Model Context Protocol on standard input. Ctrl-C ends.');
      ctx.notice('To enter svc into a program that does: svc mcp install cursor');
    }
    await serveStdio(ctx, settings, grant);
    return { data: { shape: 'nothing' } };
  },
});

const usualPort = 8979;

export const mcp: TopGroup = {
  summary: serveMcp.summary,
  itself: serveMcp,
  commands: [installMcp],
};
