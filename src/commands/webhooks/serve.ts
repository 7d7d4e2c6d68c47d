import { resolve } from 'node:path';
import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { rowForPipe } from '../../output/cells.ts';
import { message } from '../../text/layout.ts';
import { counted } from '../../text/number.ts';
import type { Configured } from '../../webhooks/serve/config.ts';
import type { MissedOf } from '../../webhooks/serve/options.ts';
import type { Served } from '../../webhooks/serve/serve.ts';
import { withLogLines, withPlainNotes } from './plain-notes.ts';

export const serveWebhooks = defineCommand({
  name: 'serve',
  summary: 'Receive webhooks in production: several sinks, retries, dead letters',
  details:
    'The configuration names the address, the inbox (a folder, or Postgres for several instances) and the sinks: HTTP, a program, a file, NATS. ' +
    'svc help serve explains each key. svc verifies each delivery, stores it, answers it, and then passes it on to each sink, in order, until the ' +
    'sink takes it or its attempts are used up: then it is a dead letter.\n\n' +
    'SIGHUP reads the configuration again. After SIGTERM svc delivers what waits, for at most 25 s; a second SIGTERM ends it at once.',
  flags: {
    config: { ...param.file('The configuration, in YAML'), required: true },
    check: param.toggle(
      'Only check the configuration: exit 0 where the file is right, also where secrets or programs are not on this machine (with --json: would_start, problems)',
      { conflicts: ['systemd'] },
    ),
    catchUp: param.toggle('Rebuild the events that never arrived since the last one'),
    systemd: param.toggle('Only print a systemd unit for it'),
  },
  examples: [
    'svc webhooks serve --config examples/svc-webhooks.yaml --check',
    'svc webhooks serve --config examples/svc-webhooks.yaml --systemd',
  ],
  async run(outer, { flags, settings }) {
    const ctx = withPlainNotes(outer);
    const { readServeConfig } = await import('../../webhooks/serve/config.ts');
    const { refuseOwnFiles } = await import('../../webhooks/serve/own-files.ts');
    const { placeOfInbox } = await import('../../webhooks/store/place.ts');
    const path = flags.config ?? '';
    const placeOf = ({ config, folder }: Configured) =>
      placeOfInbox(ctx, { inbox: config.inbox, folder, profile: settings.profile });
    const read = async () => {
      const configured = await readServeConfig(ctx, path);
      await refuseOwnFiles(ctx, configured, placeOf(configured));
      return configured;
    };
    const first = await read();
    if (flags.systemd) return { data: { shape: 'text', text: await unitFor(ctx, first) } };
    const sinks = first.config.sinks.length;
    if (flags.check) {
      const place = placeOf(first);
      if ('url' in place) await (await import('../../database/postgres.ts')).readUrl(place.url, ctx.env);
      const { missingIn, roomNeeded } = await import('../../webhooks/serve/missing.ts');
      const missing = await missingIn(ctx, settings.profile, { configured: first, place });
      const problems = missing.map(({ said }) => said);
      const here = { would_start: !missing.some(({ stops }) => stops), problems };
      return {
        data: { shape: 'record', record: { ...recordOf(path, first.config), ...here } },
        // The problems are among the notes.
        plain: () =>
          Object.entries({ ...recordOf(path, first.config), would_start: here.would_start })
            .map(([name, value]) => rowForPipe(name, value))
            .join('\n'),
        human: ({ width }) => message(`${path} is valid: ${counted(sinks, 'sink')}.`, width),
        notes: [...problems, ...roomNeeded(first.config)],
      };
    }
    const { serve } = await import('../../webhooks/serve/serve.ts');
    const { doorsOf, laterDoors } = await import('../../webhooks/serve/doors.ts');
    const { ctx: logged, log } = withLogLines(outer, settings.output);
    const served = await serve(logged, {
      log,
      profile: settings.profile,
      first,
      read,
      placeOf,
      doorsOf: ({ config }) => doorsOf(logged, config, settings.profile),
      laterDoors: ({ config }) => laterDoors(logged, config, settings.profile),
      ...(flags.catchUp && { missed: (current) => missed(logged, settings, current) }),
    });
    return {
      data: { shape: 'record', record: { ...served.tally, sinks: served.sinks } },
      said: sumOf(served),
    };
  },
});

/** What is valid, in short. */
const recordOf = (path: string, { sinks, accounts }: Configured['config']) => ({
  config: path,
  ...(accounts && { accounts: accounts.map(({ name }) => name) }),
  sinks: sinks.map(({ name }) => name),
});

/** What never arrived: of each account that has a profile, where there are several. */
async function missed(ctx: Context, settings: Settings, current: () => Configured): Promise<readonly MissedOf[]> {
  const { adminOf } = await import('../../webhooks/serve/configured.ts');
  const { missedIn } = await import('../../catchup/missed.ts');
  const { accountAdmin, asProfile, secretsOfAccount } = await import('../../catchup/accounts.ts');
  const first = current();
  const searching = (account: string | undefined) => ({
    async open() {
      const whole = await adminOf(ctx, settings, first);
      const admin = accountAdmin(whole, account);
      return { ...admin, close: () => whole.close() };
    },
    events: undefined,
    env: () => secretsOfAccount(current().config, account),
  });
  if (!first.config.accounts) return [{ missed: missedIn(ctx, settings, searching(undefined)) }];
  const all: MissedOf[] = [];
  for (const { name, profile } of first.config.accounts) {
    if (profile === undefined) ctx.notice(`${name} has no profile, so what never arrived there cannot be rebuilt.`);
    else {
      const own = await asProfile(ctx, settings, profile);
      all.push({ account: name, missed: missedIn(own.ctx, own.settings, searching(name)) });
    }
  }
  return all;
}

function sumOf({ tally, sinks }: Served): string {
  const { accepted, repeats, rejected } = tally;
  const lines = sinks.map(({ name, delivered, skipped, dead, waiting, retrying }) => {
    const parts = [
      `${delivered} delivered`,
      skipped > 0 && `${skipped} filtered out`,
      dead > 0 && `${dead} dead`,
      `${waiting ?? 'an unknown number'} waiting${retrying > 0 ? ` (${retrying} for another attempt)` : ''}`,
    ];
    return `${name}: ${parts.filter(Boolean).join(', ')}.`;
  });
  const isLeft = sinks.some(({ waiting }) => waiting !== 0);
  return [
    `${counted(accepted, 'event')} accepted, ${repeats} repeated, ${rejected} rejected.`,
    ...lines,
    ...(isLeft ? ['What waits goes on at the next start.'] : []),
  ].join('\n');
}

async function unitFor({ env }: Pick<Context, 'env'>, { file, folder, config }: Configured): Promise<string> {
  const { systemdUnit } = await import('../../webhooks/serve/unit.ts');
  const { secretVariables } = await import('../../webhooks/serve/doors.ts');
  const { itself } = await import('../../disk/place/installed.ts');
  const user = env.SUDO_USER ?? env.USER ?? 'svc';
  const files = config.sinks.flatMap((sink) => (sink.file ? [resolve(folder, sink.file.path)] : []));
  return systemdUnit({ command: itself(), config: file, user, secrets: secretVariables(config), files });
}
