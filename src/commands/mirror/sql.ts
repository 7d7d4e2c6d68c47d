import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { readUserText } from '../../disk/user-file.ts';
import { Failure } from '../../errors.ts';
import { dbFlag, streamCopy } from './copy.ts';

export const queryCopy = defineCommand({
  name: 'sql',
  summary: 'Ask the local copy a question in SQL; a query cannot change it',
  details:
    'One SELECT over the tables of svc mirror schema, in the SQL of the database: SQLite, or PostgreSQL where the copy is there. ' +
    'It sees the records of this account alone. Fields that are objects or lists are JSON; from and to of calls need double quotes. ' +
    'Records that are gone stay, with gone_at. Ctrl-C ends a query that takes too long.',
  args: { query: param.requiredText('The query; - reads it from standard input', { placeholder: 'QUERY' }) },
  flags: dbFlag,
  examples: [
    "svc mirror sql 'SELECT status, count(*) AS tickets FROM tickets GROUP BY status'",
    "echo 'SELECT email, company FROM contacts LIMIT 3' | svc mirror sql - --output csv",
  ],
  async run(ctx, { args, flags, settings }) {
    const text = args.query === '-' ? await readUserText(ctx, '-', 'QUERY') : args.query;
    if (text.trim() === '') throw new Failure('usage', 'The query is empty.');
    // The database starts while the rest is loaded.
    const loading = import('../../mirror/query.ts');
    return streamCopy(ctx, { flags, settings }, async (store, account) => {
      await (await import('../../mirror/incomplete.ts')).tellIncomplete(ctx, store, account, text);
      const { columns, rows } = await (await loading).ask(store, account, text, ctx.signal);
      async function* records() {
        for await (const row of rows) yield Object.fromEntries(columns.map((name, at) => [name, row[at]]));
      }
      return {
        records: records(),
        columns: columns.map((path) => ({ path, header: path })),
        fields: columns,
        asked: true,
        empty: 'No rows.',
      };
    });
  },
});
