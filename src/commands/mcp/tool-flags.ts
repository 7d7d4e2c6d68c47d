import type { Param } from '../../command/command.ts';
import { type Toolset, toolsetNamed, toolsets } from '../../derive/toolsets.ts';
import { Failure } from '../../errors.ts';

/** None at all is no wish: a server without a tool helps nobody. */
function inCommas(texts: readonly string[], flag: string): string[] {
  const all = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  const given = all.filter((name) => name !== '');
  if (given.length === 0)
    throw new Failure('usage', `${flag} names nothing.`, { hint: 'Leave it out to have them all.' });
  return given;
}

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
  offers: toolsets,
  parse: (texts, flag) => inCommas(texts, flag).map(toolsetNamed),
};

/** What narrows the tools, for the server and for the entry that starts it. */
export const toolFlags = { toolsets: kinds, tools: names };
