import type { Frame, Span } from '../../answers/period.ts';
import type { Report } from '../../answers/report.ts';
import { endOfCopy, unitOf } from '../../answers/report-words.ts';
import { defineCommand, type Given, type Param } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param } from '../../command/param.ts';
import { outputs } from '../../config/outputs.ts';
import { pageForms } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { rowForPipe } from '../../output/cells.ts';
import type { View } from '../../output/view.ts';
import { listed } from '../../text/listed.ts';
import { unknownZone } from '../../text/own-zone.ts';
import type { Fields } from '../../text/record.ts';

const spans: readonly Span[] = ['day', 'week', 'month'];

const spanArgument: Param<Span | undefined> = {
  description: 'The last whole day, week or month (default: the week, beside the one before)',
  placeholder: 'SPAN',
  choices: spans,
  parse: (texts) => {
    const span = spans.find((name) => name === texts.at(-1));
    if (span) return span;
    throw new Failure('usage', `A report is of a ${listed(spans, 'or')}, not "${texts.at(-1)}".`, {
      hint: 'For other times: svc report --since 2026-01-01 --until 2026-01-31',
    });
  },
};

const flags = {
  since: param.text('In place of a span: from this time or date on', { placeholder: 'TIME' }),
  until: param.text('Until this time, or the end of this date (default: now)', { placeholder: 'TIME' }),
  zone: param.text("Time zone of days and hours (default: this machine's)", { placeholder: 'ZONE' }),
  compare: param.toggle('Beside the period before'),
  explain: param.toggle('Print the SQL of each figure in place of the figures'),
  out: param.output('Write to a file instead of standard output'),
  ...dbFlag,
};

export const report = defineCommand({
  name: 'report',
  summary: 'The week in numbers, or the day or the month, from the local copy',
  details:
    'Tickets opened, resolved and left at the end; how long until the first response and until resolved; what waits now; by source, priority, ' +
    'weekday and hour; conversations and ratings; new contacts, the most active customers, the most voted feedback, what was published.\n\n' +
    'Weeks begin on Monday. Times until a response or a resolution are of the tickets opened in the period; those without one are not in ' +
    'the figure, and their number stands beside it. A reopened ticket counts as not resolved. --output html is one file to print or to send, ' +
    'without scripts; md is Markdown. --explain prints the SQL, which gives the same figures in svc mirror sql.',
  args: { span: spanArgument },
  flags,
  hasPages: true,
  needs: 'a copy of the account: svc mirror pull',
  prints: async () => ['since', 'until', 'zone', 'before', 'parts', 'copy', 'figures'],
  examples: [
    'svc report',
    'svc report month --compare --zone Europe/Berlin',
    'svc report --since 2026-01-01 --until 2026-01-31 --output html --out report.html',
    "svc report week --json --jq '.figures.tickets.values'",
    'svc report --explain',
  ],
  async run(ctx, given) {
    const { flags, settings } = given;
    const [{ askCopy }, { explained, reportOf }] = await Promise.all([
      import('../../answers/copy.ts'),
      import('../../answers/report.ts'),
    ]);
    const frame = await frameFrom(ctx, given);
    const { value, notes } = await askCopy(ctx, settings, { db: flags.db }, async (sql, account) =>
      flags.explain ? explained(frame, sql.engine) : reportOf(sql, account, frame),
    );
    const shown = { ...('figures' in value ? await reportView(value, given) : sqlView(value, given)), read: true };
    return {
      ...shown,
      file: flags.out,
      notes: [
        ...(flags.out === undefined ? [] : [`Wrote ${flags.out}.`]),
        ...notes,
        ...('figures' in value ? [...lateNotes(ctx, value, given), ...formNotes(given)] : []),
      ],
    };
  },
});

/** A report until now is as old as the copy, which svc says anyway. One of a time that is over lacks its last part. */
function lateNotes({ clock }: Pick<Context, 'clock'>, report: Report, { flags }: ReportGiven): string[] {
  const end = endOfCopy(report);
  const isUntilNow = flags.since !== undefined && flags.until === undefined;
  if (end === undefined || isUntilNow || Date.parse(report.until) > clock.now().getTime()) return [];
  return [`The copy is from before the end of this time: what happened after ${end} is missing.`];
}

/** A file whose name says one form, and which holds another since nobody asked for it. */
function formNotes({ flags, settings }: ReportGiven): string[] {
  const name = flags.out?.toLowerCase() ?? '';
  const form = [...pageForms, ...outputs].find((one) => name.endsWith(`.${one}`));
  if (form === undefined || settings.output !== undefined || settings.pageForm !== undefined || settings.fields)
    return [];
  return [`It is written as rows with tabs between the cells. For what its name says: --output ${form}`];
}

type ReportGiven = Given<{ span: typeof spanArgument }, typeof flags>;

async function frameFrom(ctx: Context, { args, flags }: ReportGiven): Promise<Frame> {
  const [{ frameOf }, { ownZone, zoneNamed }] = await Promise.all([
    import('../../answers/period.ts'),
    import('../../answers/zone.ts'),
  ]);
  const own = flags.zone ?? (unknownZone(ctx.env) === undefined ? ownZone() : undefined);
  if (own === undefined)
    ctx.notice("This machine's time zone (TZ) is none that is known, so days are those of UTC: --zone names another.");
  const zone = zoneNamed(own ?? 'UTC');
  const { since, until, compare } = flags;
  return frameOf({ span: args.span, since, until, compare }, zone, ctx.clock.now());
}

async function reportView(report: Report, { settings }: ReportGiven): Promise<View> {
  if (settings.pageForm === 'html') {
    const { reportHtml } = await import('../../answers/report-html.ts');
    return { data: { shape: 'text', text: reportHtml(report) } };
  }
  if (settings.pageForm === 'md') {
    const { reportMarkdown } = await import('../../answers/report-md.ts');
    return { data: { shape: 'text', text: reportMarkdown(report) } };
  }
  const rows = rowsOf(report);
  const columns = ['figure', 'key', 'label', 'value', 'before', 'unit'];
  if (settings.output === 'csv') return { data: { shape: 'list', records: rows, columns, fields: columns } };
  return {
    data: { shape: 'record', record: report },
    human: async (terminal) => (await import('../../answers/report-text.ts')).reportText(report, terminal),
    plain: () => rows.map((row) => `${rowForPipe(...columns.map((name) => row[name]))}\n`).join(''),
  };
}

/** A line for each value: what csv and a pipe have. */
const rowsOf = ({ figures }: Report): Fields[] =>
  Object.entries(figures).flatMap(([figure, { values, ...of }]) =>
    values.map(({ key, label = '', value, before }) => ({ figure, key, label, value, before, unit: unitOf(of, key) })),
  );

/** A title that a customer wrote must not break the row. */
function sqlView(queries: Readonly<Record<string, string>>, { settings }: ReportGiven): View {
  if (settings.output !== undefined || settings.fields) return { data: { shape: 'record', record: queries } };
  const text = Object.entries(queries).map(([name, sql]) => `-- ${name}\n${sql};\n`);
  return { data: { shape: 'text', text: text.join('\n') } };
}
