import type { Param } from '../../command/command.ts';
import { type Toolset, toolsetNamed, toolsets } from '../../derive/toolsets.ts';

const inCommas = (texts: readonly string[]): string[] =>
  texts
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');

const names: Param<readonly string[] | undefined> = {
  description: 'Only these, by name: listTickets,getTicket',
  placeholder: 'A,B',
  many: true,
  parse: inCommas,
};

const kinds: Param<readonly Toolset[] | undefined> = {
  description: `Only tools for these kinds of records: ${toolsets.join(', ')}`,
  placeholder: 'A,B',
  many: true,
  parse: (texts) => inCommas(texts).map(toolsetNamed),
};

/** What narrows the tools, for the server and for the entry that starts it. */
export const toolFlags = { toolsets: kinds, tools: names };
