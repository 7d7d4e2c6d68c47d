import { defineCommand } from '../../command/command.ts';
import { param, withFallback } from '../../command/param.ts';
import { dbFlag, withCopy } from './copy.ts';

export const searchCopy = defineCommand({
  name: 'search',
  summary: 'Find words anywhere in the local copy, best match first',
  details:
    'Looks in contacts, tickets, messages, changelog and feedback, in any script. Every word has to be there; the beginning of a ' +
    'word is enough, but not in "double quotes". A ticket or a conversation is shown once, with the ' +
    "place that fits best; OF is the ticket or conversation of a message, NUMBER the ticket's number.",
  args: { words: param.texts('What to look for', { placeholder: 'WORDS', required: true }) },
  flags: { ...dbFlag, limit: withFallback(param.integer('At most N places (default 20)', { min: 1 }), 20) },
  examples: ['svc mirror search export rows', "svc mirror search 'export rows' --json"],
  async run(ctx, { args, flags, settings }) {
    const { hits, count, isAll } = await withCopy(ctx, { flags, settings }, async (store, account) => {
      await (await import('../../mirror/incomplete.ts')).tellIncomplete(ctx, store, account);
      return (await import('../../mirror/search.ts')).search(store, account, args.words.join(' '), flags.limit);
    });
    const columns = ['kind', 'id', 'of', 'number', 'field', 'text'];
    return {
      data: { shape: 'list', records: hits, columns, fields: [...columns, 'score'], empty: 'Nothing found.' },
      read: true,
      notes:
        hits.length < count
          ? [`Showing ${hits.length} of ${isAll ? '' : 'at least '}${count}. For more: --limit N.`]
          : [],
    };
  },
});
