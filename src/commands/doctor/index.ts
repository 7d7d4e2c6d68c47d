import { defineCommand } from '../../command/command.ts';
import type { Terminal } from '../../output/view.ts';
import { sanitize } from '../../text/sanitize.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary: 'What is wrong with this set-up, and how to fix it',
  details: 'Checks this machine and the service; changes nothing. Ends with exit code 1 when something is wrong.',
  args: {},
  flags: {},
  judgesConfig: true,
  examples: ['svc doctor', "svc doctor --jq '.checks[] | select(.ok | not) | .fix'"],
  async run(ctx, { settings }) {
    const { checkUp } = await import('./checks.ts');
    const checks = await checkUp(ctx, settings);
    const ok = checks.every((check) => check.ok);
    return {
      data: { shape: 'record', record: { ok, checks: checks.map(({ isNeutral: _, ...check }) => check) } },
      human: (terminal) => checks.map((check) => line(check, terminal)).join('\n'),
      plain: () =>
        checks
          .map((check) => `${check.ok ? 'ok' : 'wrong'}\t${check.name}\t${check.message}\t${check.fix ?? ''}`)
          .join('\n'),
      read: true,
      outcome: ok ? undefined : 'failed',
      notes: ok ? ['Nothing is wrong.'] : [],
    };
  },
});

/** One thing that was looked at. `fix`: the command or the step that fixes it, null where nothing is wrong. */
export type Check = {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
  readonly fix: string | null;
  /** Neither good nor bad: people see no mark of success. */
  readonly isNeutral?: boolean;
};

function line({ name, ok, message, fix, isNeutral }: Check, { paint }: Terminal): string {
  const good = isNeutral ? paint('dim', '-') : paint('green', '✓');
  const mark = ok ? good : paint('red', '✗');
  const advice = fix ? `\n    ${paint('bold', sanitize(fix))}` : '';
  return `${mark} ${name.padEnd(13)} ${sanitize(message)}${advice}`;
}
