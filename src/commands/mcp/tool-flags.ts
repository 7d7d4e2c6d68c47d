import type { Param } from '../../command/command.ts';
import { type Toolset, toolsetNamed, toolsets } from '../../derive/toolsets.ts';
import { Failure } from '../../errors.ts';

/** A name that is empty is none: without it other tools than those that were meant would be there. */
function inCommas(texts: readonly string[], flag: string): string[] {
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim());
  if (!names.includes('')) return names;
  throw new Failure('usage', `${flag} takes names separated by commas, not "${texts.join(',')}".`, {
    hint: 'Leave it out to have them all.',
  });
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
