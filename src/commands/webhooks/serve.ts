import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { message } from '../../text/layout.ts';
import { counted } from '../../text/number.ts';
import type { Missed } from '../../webhooks/receive/missed.ts';
import type { Configured } from '../../webhooks/serve/config.ts';
import type { Served } from '../../webhooks/serve/serve.ts';
import { splitSecrets, storedSecrets } from '../../webhooks/subscriptions/secrets.ts';
import { withPlainNotes } from './plain-notes.ts';

export const serveWebhooks = defineCommand({
  name: 'serve',
  summary: 'Receive webhooks in production: several sinks, retries, dead letters',
  details:
    'The configuration names the address, the inbox (a folder, or Postgres for several instances) and the sinks: HTTP, a program, a file. ' +
    'svc help serve explains each key. svc verifies each delivery, stores it, answers it, and then passes it on to each sink, in order, until the ' +
    'sink takes it or its attempts are used up: then it is a dead letter.\n\n' +
    'SIGHUP reads the configuration again. After SIGTERM svc delivers what waits, for at most 25 s; a second SIGTERM ends it at once.',
  args: {},
  flags: {
    config: { ...param.file('The configuration, in YAML'), required: true },
    check: param.toggle('Only check the configuration', { conflicts: ['systemd'] }),
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
      return {
        data: { shape: 'record', record: { config: path, sinks: first.config.sinks.map(({ name }) => name) } },
        human: ({ width }) => message(`${path} is valid: ${counted(sinks, 'sink')}.`, width),
        notes: await missingFor(ctx, first),
      };
    }
    const { serve } = await import('../../webhooks/serve/serve.ts');
    const served = await serve(ctx, {
      first,
      read,
      placeOf,
      secretsOf: (configured) => secretsOf(ctx, settings, configured),
      storedSecrets: () => storedSecrets(ctx.tokens, settings.profile),
      ...(flags.catchUp && { missed: (current) => missed(ctx, settings, current) }),
    });
    return {
      data: { shape: 'record', record: { ...served.tally, sinks: served.sinks } },
      said: sumOf(served),
    };
  },
});

/** What the configuration names and is not here. */
async function missingFor(ctx: Context, configured: Configured): Promise<string[]> {
  const { missingPrograms } = await import('../../webhooks/serve/missing-programs.ts');
  const { missingSecrets } = await import('../../webhooks/serve/missing-secrets.ts');
  return [...missingSecrets(ctx, configured.config), ...(await missingPrograms(configured))];
}

async function missed(ctx: Context, settings: Settings, current: () => Configured): Promise<Missed> {
  const { placeOfInbox } = await import('../../webhooks/store/place.ts');
  const { openInboxAdmin } = await import('../../webhooks/store/inbox-admin.ts');
  const { missedIn } = await import('../../catchup/missed.ts');
  const { config, folder } = current();
  const place = placeOfInbox(ctx, { inbox: config.inbox, folder, profile: settings.profile });
  const open = async () => {
    const admin = await openInboxAdmin(ctx, place);
    return { seeAll: admin.received, starts: admin.starts, close: () => admin.close() };
  };
  return missedIn(ctx, settings, { open, events: undefined, env: () => current().config.secrets.env });
}

/** Those of the variables that the configuration names, and those that svc has stored. */
async function secretsOf(ctx: Context, { profile }: Settings, { config }: Configured): Promise<string[]> {
  const { env, store } = config.secrets;
  const given = env.flatMap((name) => splitSecrets(ctx.env[name] ?? ''));
  const secrets = [...new Set([...given, ...(store ? await storedSecrets(ctx.tokens, profile) : [])])];
  if (secrets.length > 0) return secrets;
  throw new Failure('usage', 'No signing secret is known, so no delivery could be verified.', {
    hint: `Set ${env[0] ?? 'a variable that secrets.env names'}, or subscribe with svc webhooks create.`,
  });
}

function sumOf({ tally, sinks }: Served): string {
  const { accepted, repeats, rejected } = tally;
  const lines = sinks.map(({ name, delivered, skipped, dead, waiting }) => {
    const parts = [
      `${delivered} delivered`,
      skipped > 0 && `${skipped} filtered out`,
      dead > 0 && `${dead} dead`,
      `${waiting ?? 'an unknown number'} waiting`,
    ];
    return `${name}: ${parts.filter(Boolean).join(', ')}.`;
  });
  return [`${counted(accepted, 'event')} accepted, ${repeats} repeated, ${rejected} rejected.`, ...lines].join('\n');
}

async function unitFor({ env }: Pick<Context, 'env'>, { file }: Configured): Promise<string> {
  const { systemdUnit } = await import('../../webhooks/serve/unit.ts');
  const script = process.argv[1];
  const isScript = script !== undefined && !process.getBuiltinModule('node:sea').isSea();
  const command = isScript ? [process.execPath, script] : [process.execPath];
  return systemdUnit({ command, config: file, user: env.SUDO_USER ?? env.USER ?? 'svc' });
}
