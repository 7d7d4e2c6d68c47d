import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { streamForms } from '../../config/stream-forms.ts';
import type { Context } from '../../context.ts';
import { aborted } from '../../promise/aborted.ts';
import type { Address, Running } from '../../sandbox/open.ts';
import { sandboxFlags, seedFor } from './flags.ts';

export const start = defineCommand({
  name: 'start',
  summary: 'Serve the whole service on this machine until interrupted',
  details:
    'Every endpoint, field, limit and state rule of the service, its OAuth endpoints with a consent page, and signed ' +
    'webhook deliveries, on 127.0.0.1. Everything is kept in memory unless --state names a file.\n\n' +
    'With --seed mirror its keys are random ones, which it prints: nobody else on this machine reads the copy.',
  forms: streamForms,
  flags: {
    port: param.integer('Port on 127.0.0.1 (default 4010); 0 takes a free one', { max: 65_535 }),
    ...sandboxFlags,
    state: param.output('Keep everything in this file, through a crash too'),
    log: param.toggle('Print a line about each request on standard error'),
  },
  examples: [
    'svc sandbox start',
    'svc sandbox start --port 0 --seed empty --state sandbox.state --json',
    'svc sandbox start --seed mirror --anonymise',
    'svc sandbox start --rate-limit sliding --consent auto --allow-http-targets',
  ],
  async run(ctx, { flags, settings }) {
    const { openSandbox } = await import('../../sandbox/open.ts');
    const seed = await seedFor(ctx, settings, flags);
    const running = await openSandbox({ ...flags, seed, port: flags.port ?? 4010, signal: ctx.signal }, ctx.notice);
    // In the background, or written to a file: the address alone does not say what to do with it.
    if (!ctx.stdout.isTTY && settings.output === undefined && settings.jq === undefined && !settings.quiet) {
      ctx.notice(`The sandbox is up until it is interrupted. To use it: ${exportsFor(running.address)}`);
    }
    return {
      data: {
        shape: 'stream',
        records: untilInterrupted(ctx, running),
        line: (address: Address, terminal) => describe(address, terminal !== undefined),
      },
    };
  },
});

/** One record, the address; then it serves until Ctrl-C or SIGTERM, which are its normal end. */
async function* untilInterrupted({ signal }: Pick<Context, 'signal'>, running: Running): AsyncGenerator<Address> {
  const { lost } = running;
  const over = lost ? AbortSignal.any([signal, lost]) : signal;
  try {
    yield running.address;
    await aborted(over);
    if (lost?.aborted) throw lost.reason;
  } finally {
    await running.close();
  }
}

const exportsFor = ({ base_url, accounts }: Address): string =>
  `export SVC_BASE_URL=${base_url} SVC_API_KEY=${accounts[0]?.api_key}`;

function describe(address: Address, forPeople: boolean): string {
  const { base_url, auth_url, accounts, client_id, client_secret, redirect_uri, m2m_token, control_url } = address;
  const rows = [
    ['Base URL', base_url],
    ['Auth URL', auth_url],
    ...accounts.map(({ account_id, name, api_key }) => ['API key', `${api_key}  (account ${account_id}, ${name})`]),
    ['OAuth client', `${client_id} / ${client_secret}`],
    ['Redirect URI', redirect_uri],
    ['Machine-to-machine token', m2m_token],
    ['Control', control_url],
  ];
  const width = Math.max(...rows.map(([label = '']) => label.length));
  const lines = rows.map(([label = '', value]) => `${label.padEnd(width)}  ${value}`);
  if (!forPeople) return lines.join('\n');
  const login = `svc login --base-url ${base_url} --auth-url ${auth_url} --client-id ${client_id}`;
  return [
    'The sandbox is up. Ctrl-C ends it.',
    '',
    ...lines,
    '',
    'Log in to it with',
    `  SVC_CLIENT_SECRET=${client_secret} ${login}`,
    'or use it at once in another terminal with',
    `  ${exportsFor(address)}`,
    '  svc contacts list',
  ].join('\n');
}
