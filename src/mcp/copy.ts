import { fieldsArgument } from '../derive/mcp-tools.ts';
import { interruption } from '../errors.ts';
import type { Service } from '../http/call/call.ts';
import type { Copy } from '../mirror/store/open-copy.ts';
import { counted } from '../text/number.ts';
import { type Fields, fieldsIn } from '../text/record.ts';
import { type Answer, answer } from './answer.ts';
import { firstItems, room, smallRecord } from './bounds.ts';
import { onlyFields } from './slices.ts';
import { invalid, readingTool, type Tool } from './tool.ts';

/** More rows say that the query should count or choose. */
const mostRows = 200;
const mostPlaces = 50;
/** Clients give a call about a minute, and under an older Node whoever else asks the copy waits meanwhile. */
const patienceMs = 20_000;

/** What a tool found: `record` or `rows`, and lines about it for the model. */
type Found = {
  readonly key: string;
  readonly value: unknown;
  readonly lines: readonly string[];
  readonly isCut?: boolean;
};

type Made = Pick<Tool, 'name' | 'title' | 'description'> & {
  readonly properties: NonNullable<Tool['inputSchema']['properties']>;
  readonly required?: readonly string[];
  look(service: Service, input: Fields): Promise<Found>;
};

/** A tool that asks the copy: no request, nothing written, and an answer within the bounds of every other. */
const copyTool = ({ properties, required, look, ...about }: Made): Tool =>
  readingTool(
    { ...about, toolset: 'copy' },
    { properties: { ...properties, fields: fieldsArgument }, ...(required && { required: [...required] }) },
    async ({ service, input, boundary }, fields) =>
      boundedAnswer(about.name, await look(service, input), fields, boundary),
  );

function boundedAnswer(
  name: string,
  { key, value, lines, isCut }: Found,
  fields: readonly string[] | undefined,
  boundary: string,
): Answer {
  if (!Array.isArray(value)) {
    const wanted = fields ? onlyFields(value, fields) : fieldsIn(value);
    const ask = (field: string) => `For the rest call ${name} with fields "${field}".`;
    const { kept, leftOut } = smallRecord(wanted, room - 100, ask);
    return answer({ [key]: kept }, leftOut, lines, boundary);
  }
  const rows = fields ? value.map((row) => onlyFields(row, fields)) : value;
  const shown = firstItems(rows, room);
  const isPart = isCut === true || shown.length < rows.length;
  const leftOut = isPart
    ? [`The first ${shown.length} are here. Ask for less: count, choose, or name \`fields\`.`]
    : [];
  return answer({ [key]: shown }, leftOut, lines, boundary);
}

const text = (input: Fields, name: string): string => {
  const value = input[name];
  if (typeof value !== 'string') throw invalid({ [name]: ['must be a text'] });
  if (value.trim() === '') throw invalid({ [name]: ['must not be empty'] });
  return value;
};

const maybeText = (input: Fields, name: string): string | undefined => {
  const value = input[name];
  if (value === undefined || value === null || value === '') return undefined;
  return text(input, name);
};

/** The copy for the length of some work. */
async function withCopy<T>({ ctx, settings }: Service, work: (copy: Copy) => Promise<T>): Promise<T> {
  const { openCopyPulled } = await import('../mirror/store/open-copy.ts');
  const copy = await openCopyPulled(ctx, settings);
  try {
    return await work(copy);
  } finally {
    await copy.store.close();
  }
}

/** How old and how whole the copy is, in the words of every answer from it. */
async function ageOf({ ctx }: Service, { store, account }: Copy): Promise<readonly string[]> {
  const { notesOn } = await import('../answers/copy.ts');
  const { kindNames } = await import('../mirror/tables/kinds.ts');
  return store.read((sql) => notesOn(sql, account, kindNames, ctx.clock.now()));
}

/** One SELECT under the rules of `svc mirror sql`, as many rows as are shown, and no longer than a client waits. */
async function rowsFor(service: Service, copy: Copy, sql: string): Promise<Found> {
  const { ctx, settings } = service;
  const { askApart } = await import('../mirror/query/apart.ts');
  const late = AbortSignal.timeout(patienceMs);
  try {
    const { columns, rows } = await askApart({ ctx, settings, ...copy }, sql, AbortSignal.any([ctx.signal, late]));
    const shown: unknown[] = [];
    let isCut = false;
    for await (const row of rows) {
      isCut = shown.length === mostRows;
      if (isCut) break;
      shown.push(Object.fromEntries(columns.map((name, at) => [name, row[at]])));
    }
    const age = await ageOf(service, copy);
    return { key: 'rows', value: shown, lines: [`${counted(shown.length, 'row')}.`, ...age], isCut };
  } catch (error) {
    if (late.aborted && !ctx.signal.aborted) throw interruption({ reason: 'SIGTERM' }, 'The query took too long.');
    throw error;
  }
}

/** What the ends of a report are called here. */
const inputs = { since: 'since', until: 'until' } as const;

export const copyTools: readonly Tool[] = [
  copyTool({
    name: 'queryCopy',
    title: 'Query copy',
    description: 'Ask the local copy in SQL.',
    properties: { sql: { type: 'string', description: 'One SELECT' } },
    required: ['sql'],
    async look(service, input) {
      const sql = text(input, 'sql');
      return withCopy(service, (copy) => rowsFor(service, copy, sql));
    },
  }),
  copyTool({
    name: 'searchCopy',
    title: 'Search copy',
    description: 'Full text search in the local copy.',
    properties: { q: { type: 'string', description: 'Words' } },
    required: ['q'],
    async look(service, input) {
      const q = text(input, 'q');
      const { search } = await import('../mirror/query/search.ts');
      return withCopy(service, async (copy) => {
        const { hits, count, isAll } = await search(copy.store, copy.account, q, mostPlaces);
        const lines = [`${isAll ? '' : 'At least '}${count} found.`, ...(await ageOf(service, copy))];
        return { key: 'hits', value: hits, lines, isCut: hits.length < count };
      });
    },
  }),
  copyTool({
    name: 'report',
    title: 'Report',
    description: 'Figures of a week or a time.',
    properties: {
      since: { type: 'string', description: 'Date' },
      until: { type: 'string', description: 'Date' },
    },
    async look({ ctx, settings }, input) {
      const [since, until] = [maybeText(input, 'since'), maybeText(input, 'until')];
      const [{ askCopy }, { reportOf }, { frameOf }, { ownZone, zoneNamed }] = await Promise.all([
        import('../answers/copy.ts'),
        import('../answers/report.ts'),
        import('../answers/period.ts'),
        import('../answers/zone.ts'),
      ]);
      const zone = zoneNamed(ownZone() ?? 'UTC');
      const frame = frameOf({ span: undefined, since, until, compare: true, called: inputs }, zone, ctx.clock.now());
      const told = await askCopy(ctx, settings, {}, (sql, account) => reportOf(sql, account, frame));
      return { key: 'report', value: told.value, lines: told.notes };
    },
  }),
  copyTool({
    name: 'contactHistory',
    title: 'Contact history',
    description: 'All about one person.',
    properties: { contact: { type: 'string', description: 'Id, email or phone' } },
    required: ['contact'],
    async look({ ctx, settings }, input) {
      const typed = typeof input.contact === 'number' ? String(input.contact) : text(input, 'contact');
      const [{ askCopy }, { historyOf }, { personIn }] = await Promise.all([
        import('../answers/copy.ts'),
        import('../answers/history.ts'),
        import('../answers/person.ts'),
      ]);
      const told = await askCopy(ctx, settings, {}, async (sql, account) =>
        historyOf(sql, account, await personIn(sql, account, typed)),
      );
      return { key: 'history', value: told.value ?? {}, lines: told.notes };
    },
  }),
];
