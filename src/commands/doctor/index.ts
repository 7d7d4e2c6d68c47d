import { defineCommand } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import { rowForPipe } from '../../output/cells.ts';
import type { Terminal } from '../../output/view.ts';
import { message as filledTo } from '../../text/layout.ts';
import { sanitize } from '../../text/sanitize.ts';
import type { Check } from './check.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'What is wrong with this set-up, and how to fix it',
  details:
    'Checks this machine and the service; changes nothing. Ends with exit code 1 when something is wrong. ' +
    'A newer version is no fault; that --check-update gets no answer is one.',
  flags: {
    checkUpdate: param.text('Also ask this address whether a newer svc is announced there; nothing else ever asks', {
      placeholder: 'URL',
    }),
  },
  judgesConfig: true,
  examples: ['svc doctor', "svc doctor --jq '.checks[] | select(.ok | not) | .fix'"],
  async run(ctx, { flags, settings }) {
    const [{ checkUp }, { ownCheck, updateCheck, updateUrl }] = [await import('./checks.ts'), await import('./own.ts')];
    const url = flags.checkUpdate === undefined ? undefined : updateUrl(flags.checkUpdate);
    const { sendsChecks } = await import('./sends.ts');
    const checks = [ownCheck(), ...(await checkUp(ctx, settings)), ...(await sendsChecks(ctx, settings))];
    const update = url === undefined ? undefined : await updateCheck(ctx, settings, url);
    if (update) checks.push(update.check);
    const ok = checks.every((check) => check.ok);
    return {
      data: {
        shape: 'record',
        record: {
          ok,
          checks: checks.map(({ isNeutral: _, ...check }) => check),
          ...(update && { update: update.announced }),
        },
      },
      human: (terminal) => checks.map((check) => line(check, terminal)).join('\n'),
      plain: () => checks.map((check) => rowForPipe(stateOf(check), check.name, check.message, check.fix)).join('\n'),
      read: true,
      outcome: ok ? undefined : 'failed',
      notes: ok ? ['Nothing is wrong.'] : [],
    };
  },
});

function stateOf({ ok, isNeutral }: Check): string {
  if (!ok) return 'wrong';
  return isNeutral ? '-' : 'ok';
}

function line({ name, ok, message, fix, isNeutral }: Check, { paint, width }: Terminal): string {
  const good = isNeutral ? paint('dim', '-') : paint('green', '✓');
  const mark = ok ? good : paint('red', '✗');
  const beside = ' '.repeat(17);
  const advice = fix ? `\n    ${paint('bold', filledTo(sanitize(fix), width, '    '))}` : '';
  return `${mark} ${name.padEnd(14)} ${filledTo(sanitize(message), width, beside)}${advice}`;
}
