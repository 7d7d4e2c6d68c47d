import { defineCommand } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { readUserText } from '../../disk/place/user-file.ts';
import { Failure } from '../../errors.ts';
import { streamCopy } from './copy.ts';

const examples = [
  "svc mirror sql 'SELECT status, count(*) AS tickets FROM tickets GROUP BY status'",
  "svc mirror sql 'SELECT priority, median(julianday(resolved_at) - julianday(created_at)) AS days FROM tickets GROUP BY priority'",
  "echo 'SELECT email, company FROM contacts LIMIT 3' | svc mirror sql - --output csv",
];

export const queryCopy = defineCommand({
  name: 'sql',
  summary: 'Ask the local copy a question in SQL; a query cannot change it',
  details:
    'One SELECT over the tables of svc mirror schema, in the SQL of the database: SQLite, or PostgreSQL where the copy is there. ' +
    'It sees the records of this account alone. Fields that are objects or lists are JSON; from and to of calls need double quotes. ' +
    'Records that are gone stay, with gone_at. median(x) and percentile(x, p), with p from 0 to 100, are there in both. Ctrl-C ends a query that takes too long; --timeout is for requests to the service.',
  args: {
    query: param.text('The query; - reads it from standard input, as a pipe or a file there does without it', {
      placeholder: 'QUERY',
    }),
  },
  flags: {
    ...dbFlag,
    file: param.text('A file that holds the query, in place of QUERY', { placeholder: 'FILE', completes: 'files' }),
  },
  needs: 'a copy of the account: svc mirror pull',
  examples,
  async run(ctx, { args, flags, settings }) {
    const text = await queryOf(ctx, settings, args.query, flags.file);
    if (text.trim() === '') throw new Failure('usage', 'The query is empty.', { hint: `For example: ${examples[0]}` });
    // The database starts while the rest is loaded.
    const loading = import('../../mirror/query/query.ts');
    return streamCopy(ctx, { flags, settings }, async (store, account) => {
      await (await import('../../mirror/query/incomplete.ts')).tellIncomplete(ctx, store, account, text);
      const {
        columns,
        durations = [],
        rows,
      } = await (await loading).ask(store, account, text, ctx.signal).catch(async (error: unknown) => {
        throw (await import('../../mirror/query/near-name.ts')).withNearName(error, text);
      });
      async function* records() {
        for await (const row of rows) yield Object.fromEntries(columns.map((name, at) => [name, row[at]]));
      }
      return {
        records: records(),
        columns: columns.map((path) => ({
          path,
          header: path,
          ...(durations.includes(path) && { as: 'duration' as const }),
        })),
        fields: columns,
        asked: true,
        empty: 'No rows.',
      };
    });
  },
});

async function queryOf(ctx: Context, { noInput }: Settings, given?: string, file?: string): Promise<string> {
  if (given !== undefined && file !== undefined)
    throw new Failure('usage', 'Give either QUERY or --file FILE, not both.');
  if (file !== undefined) return readUserText(ctx, file, '--file');
  if (given !== undefined && given !== '-') return given;
  if (given === '-' || !ctx.stdin.isTTY) return readUserText(ctx, '-', 'QUERY');
  if (ctx.ask.canAsk && !noInput) return ctx.ask.text('The query (QUERY)');
  throw new Failure('usage', 'QUERY is required.', {
    hint: `Run: svc mirror sql --help\nFor example: ${examples[0]}`,
  });
}
