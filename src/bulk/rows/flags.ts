import type { Param, Values } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { fieldsOfRow, type RowOf } from '../../command/row.ts';
import { mapFlag, readingFlags } from '../../tabular/flags.ts';

/** The heading in help. */
const group = 'From a file:';

const rowsOfFile = 'Do it for every row of a file: CSV, JSON, JSON Lines or ids; - is standard input';

const fileFlags = {
  from: param.file(rowsOfFile),
  ...mapFlag,
  map_value: param.texts('Read a value of a column as another; repeatable', { placeholder: 'COLUMN:FROM=TO' }),
  dry_run: param.toggle('Show the first requests and every problem; send nothing'),
  strict: param.toggle('Send nothing if one row is bad'),
  max_sends: param.integer('Send at most N rows in this run', { min: 1 }),
  results: param.output('Write every row with what became of it (svc_status, svc_id, svc_error) to a file'),
  rejects: param.output('Write the rejected rows to a file, to be fixed and sent again'),
  report: param.output('Write the report as JSON to a file'),
  again: param.toggle('Send rows again that were sent from other files, or as another request; asks'),
  restart: param.toggle('Send the whole file again, whatever earlier runs have sent; asks'),
  retry_unknown: param.toggle('Send rows again whose outcome is unknown; they may be done twice'),
  concurrency: param.integer('At most N rows in flight at once (default 4)', { min: 1, max: 32 }),
  ...readingFlags,
} as const;

/** Those that only some commands have. */
const someFlags = {
  from: param.file(`${rowsOfFile}. A row's own cell wins over a flag`),
  clear_empty: param.toggle('An empty cell empties the field instead of leaving it as it is'),
  tag_separator: param.text('Separates the items of a list in a cell (default ;), or none', {
    placeholder: 'TEXT',
    takesBlanks: true,
    offers: ['none'],
  }),
  id_map: param.texts('Turn ids of another system into ours, by a column of an earlier --results file; repeatable', {
    placeholder: 'RESULTS:COLUMN',
  }),
  match: param.choice('Find the contact of a row by its email', ['email']),
  template: param.text('The text from a template, with {{field}} filled in: a file, or a name in templates/', {
    placeholder: 'FILE|NAME',
    completes: 'files',
    offers: 'templates',
  }),
  set: param.pairs('With --template: what {{NAME}} stands for where there is nothing of that name; repeatable', {
    placeholder: 'NAME=VALUE',
  }),
  create_contacts: param.toggle('Create the contact of a row where no contact has its email'),
} as const;

export type FileFlags = Values<typeof fileFlags> & Partial<Values<typeof someFlags>>;

/** The flags that a command has for the rows of a file. */
export function flagsFor(row: RowOf): Record<string, Param<unknown>> {
  const { operation } = row;
  const shapes = Object.values(fieldsOfRow(row)).map(({ shape }) => shape.type);
  const { from, clear_empty, tag_separator, id_map, match, template, set, create_contacts } = someFlags;
  const isOfContact = Object.values(operation.ids ?? {})[0] === 'contacts';
  const flags: Record<string, Param<unknown>> = {
    ...fileFlags,
    ...(row.reads !== 'named' && shapes.length > 0 && { from, clear_empty }),
    ...(row.reads !== 'named' && shapes.includes('list') && { tag_separator }),
    ...(operation.ids && { id_map }),
    ...(isOfContact && { match }),
    ...(row.requester !== undefined && { create_contacts }),
  };
  for (const [key, flag] of Object.entries(flags)) flags[key] = { ...flag, group };
  return row.text === undefined ? flags : { template, set, ...flags };
}

/** The flag with which a repeated command would send rows once more. */
export function sendsAgain({ restart, retry_unknown }: Pick<FileFlags, 'restart' | 'retry_unknown'>) {
  if (restart) return '--restart';
  return retry_unknown ? '--retry-unknown' : undefined;
}
