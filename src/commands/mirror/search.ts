import { forMore, limitOrAllFlags } from '../../command/at-most.ts';
import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import { Failure } from '../../errors.ts';
import { withCopy } from './copy.ts';

/** A database takes no endless number. */
const everyPlace = 10_000_000;

export const searchCopy = defineCommand({
  name: 'search',
  summary: 'Find words anywhere in the local copy, best match first',
  details:
    'Looks in contacts, tickets, messages, changelog and feedback, in any script. Every word has to be there; the beginning of a ' +
    'word is enough, but not in "double quotes"; brackets and signs mean nothing. A ticket or a conversation is shown once, with the ' +
    "place that fits best; the column Of names the ticket or conversation of a message, Number the ticket's number.",
  args: { words: param.texts('What to look for', { placeholder: 'WORDS', required: true }) },
  flags: {
    ...dbFlag,
    ...limitOrAllFlags('At most N places (default 20)', 'Every place'),
  },
  needs: 'a copy of the account: svc mirror pull',
  examples: ['svc mirror search export rows', "svc mirror search 'export rows' --json"],
  async run(ctx, { args, flags, settings }) {
    const text = args.words.join(' ');
    const { operatorsIn, phrasesOf } = await import('../../mirror/store/words.ts');
    if (phrasesOf(text).length === 0) {
      throw new Failure('usage', `There is no word to look for in "${text}".`, {
        hint: 'Give letters or digits, for example: svc mirror search refund',
      });
    }
    const operators = operatorsIn(text);
    if (operators.length > 0) {
      const are = operators.length === 1 ? 'is looked for as a word' : 'are looked for as words';
      ctx.notice(`${operators.join(' and ')} ${are}, like the others: every word has to be there.`);
    }
    const { hits, count, isAll } = await withCopy(ctx, { flags, settings }, async (store, account) => {
      await (await import('../../mirror/query/incomplete.ts')).tellIncomplete(ctx, store, account);
      return (await import('../../mirror/query/search.ts')).search(
        store,
        account,
        text,
        flags.all ? everyPlace : (flags.limit ?? 20),
      );
    });
    const fields = ['kind', 'id', 'of', 'number', 'field', 'text'];
    // On a narrow terminal the words that were found matter most, and where they stand next.
    const ranks: Readonly<Record<string, number>> = { text: 1, kind: 2, id: 3, number: 4, field: 5, of: 6 };
    const columns = fields.map((path) => ({ path, rank: ranks[path] ?? 7 }));
    return {
      data: { shape: 'list', records: hits, columns, fields: [...fields, 'score'], empty: 'Nothing found.' },
      read: true,
      notes: hits.length < count ? [`Showing ${hits.length} of ${isAll ? '' : 'at least '}${count}. ${forMore}`] : [],
    };
  },
});
