import { defineCommand, type Param } from '../../command/command.ts';
import { dbFlag } from '../../command/copy-flag.ts';
import { param, withFallback } from '../../command/param.ts';
import { mostSeconds } from '../../config/given-texts.ts';
import { streamForms } from '../../config/stream-forms.ts';
import { Failure } from '../../errors.ts';
import type { WatchEvent } from '../../mirror/pull/watch.ts';
import { type Kind, type KindName, kindNames, kindOf } from '../../mirror/tables/kinds.ts';
import { tableOf } from '../../mirror/tables/tables.ts';
import { localTime } from '../../output/cells.ts';
import type { Terminal } from '../../output/view.ts';
import { thenClosed } from '../../promise/then-closed.ts';
import { oneOf } from '../../text/one-of.ts';
import { zoneDoubt } from '../../text/own-zone.ts';
import { sanitize } from '../../text/sanitize.ts';
import { cut, pad } from '../../text/width.ts';

const kindsThat = (watched: Kind['watched']): KindName[] =>
  kindNames.filter((name) => kindOf(name).watched === watched);
const byDefault = kindsThat('by default');
const watched = [...byDefault, ...kindsThat('when named')];

const kindsArgument: Param<readonly KindName[]> = {
  description: `What to watch (default: ${byDefault.join(' and ')})`,
  placeholder: 'KIND',
  choices: watched,
  many: true,
  parse: (texts, by) => texts.map((text) => oneOf(watched, { text, by })),
};

export const watchAccount = defineCommand({
  name: 'watch',
  summary: 'Show what changes in the account, as it changes',
  onlyReads: () => true,
  details:
    'Keeps the local copy (svc mirror) up to date and prints a line for each change: a new ticket, open → resolved, a new message with ' +
    'its text, a new contact. It goes on through network failures and rate limits until Ctrl-C.\n\n' +
    'With --json each change is one object on a line: {time, kind, record_id, change, before, after, record}. With --name it begins where the last ' +
    'run with that name stopped: each change comes at least once, and in order for each record. --exec runs a program for each change, ' +
    'with that object on its standard input; if that fails three times, svc reports it and goes on with the next change. With ' +
    '--once it ends there with 8, and the next run with that name begins with that change.',
  forms: streamForms,
  args: { kinds: kindsArgument },
  flags: {
    ...dbFlag,
    interval: withFallback(
      param.integer('How often to look (default 15)', { min: 1, max: mostSeconds, placeholder: 'SECONDS' }),
      15,
    ),
    since: param.text('Begin at this time, such as yesterday, or 2d, 12h or 30m ago', {
      placeholder: 'TIME',
      doubt: zoneDoubt,
    }),
    name: param.text('Remember under this name how far svc got', { placeholder: 'NAME' }),
    once: param.toggle(
      'One look, for cron: tell what changed since the last run with --name, or since --since, and end',
      {
        conflicts: ['interval'],
      },
    ),
    exec: param.text('Run this for each change, with the change as JSON on standard input', { placeholder: 'COMMAND' }),
  },
  examples: [
    'svc watch',
    "svc watch tickets contacts --name crm --exec './to-crm --from-svc'",
    'svc watch --since 1d --json',
    'svc watch --once --name cron',
  ],
  async run(ctx, { args, flags, settings }) {
    const [{ openCopyToPull }, { datedContext }, { watch }, { connect }, { pastMoment }, { whatChanged }] =
      await Promise.all([
        import('../../mirror/store/open-copy.ts'),
        import('../../mirror/pull/pulling.ts'),
        import('../../mirror/pull/watch.ts'),
        import('../../http/call/call.ts'),
        import('../../text/time.ts'),
        import('../../mirror/pull/told.ts'),
      ]);
    const { exec, once, name } = flags;
    if (once && name === undefined && flags.since === undefined) {
      throw new Failure('usage', '--once alone would begin now and tell nothing.', {
        hint: 'Give --name NAME, to tell what changed since the last run with that name, or --since TIME.',
      });
    }
    const since = flags.since === undefined ? undefined : pastMoment(flags.since, '--since', ctx.clock.now());
    const each =
      exec === undefined
        ? undefined
        : await (await import('../../mirror/pull/exec.ts')).runner(ctx, exec, { once, name });
    const dated = datedContext(ctx);
    const service = await connect(dated.ctx, settings);
    const { store, account } = await openCopyToPull(ctx, settings, { db: flags.db, service });
    const kinds: readonly KindName[] = args.kinds?.length ? args.kinds : byDefault;
    const changes = watch({
      ctx,
      dated: { service, ...dated },
      store,
      account,
      kinds,
      intervalMs: flags.interval * 1000,
      since,
      name,
      once,
      each,
    });
    return { data: { shape: 'stream', records: thenClosed(changes, store), line: lineWith(whatChanged) } };
  },
});

const styles: Readonly<Record<string, Parameters<Terminal['paint']>[0]>> = {
  ticket: 'orange',
  message: 'cyan',
  conversation: 'cyan',
  contact: 'green',
  call: 'magenta',
};

/** A line of at most the terminal's width; in a pipe whole, with tabs. */
const lineWith =
  (what: (event: WatchEvent, room?: number) => string) =>
  (event: WatchEvent, terminal: Terminal | undefined): string => {
    const { noun } = tableOf(event.kind);
    const saidIn = (room?: number) => [event.of, what(event, room)].filter(Boolean).join(' ');
    if (!terminal) {
      const id = String(event.record_id);
      return [event.time, event.kind, id, event.change, saidIn()].map((text) => sanitize(text)).join('\t');
    }
    const { width, paint } = terminal;
    const start = `${localTime(event.time).slice(-5)}  `;
    const room = Math.max(10, width - start.length - kindRoom - 2);
    const style = styles[noun];
    const word = pad(noun, kindRoom);
    return `${paint('dim', start)}${style ? paint(style, word) : word}  ${cut(sanitize(saidIn(room)), room)}`.trimEnd();
  };

const kindRoom = 12;
