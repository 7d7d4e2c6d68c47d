import { defineCommand } from '../../command/command.ts';
import { execFlags, execOver, type IsCommand } from './exec.ts';

/**
 * The name that people look for. The command line is turned into the one that it stands for before it is read
 * (`program/argv.ts`), so this is what help and completion know of it.
 */
export const rehearseOver = (isCommand: IsCommand) => {
  const exec = execOver(isCommand);
  return defineCommand({
    name: 'rehearse',
    summary: 'What a command would change in the account, told without changing it',
    details:
      'Runs the command against the copy of the account that svc mirror pull made, in a sandbox, and tells what it changed, ' +
      'record by record, on standard error. The account itself is not touched. ' +
      'Your aliases and templates are there; which rows of a file were sent before is not known: --dry-run tells that. ' +
      'Your settings for sends hold too (svc help sends): what would become a draft, or be refused, does so here. ' +
      'But nobody is asked, only a --hold of the command itself waits, and max_per_hour counts from zero.\n\n' +
      'It is short for: svc sandbox exec --seed mirror --diff -- CMD, whose flags it takes too.',
    args: exec.args,
    flags: { diffOut: execFlags.diffOut },
    examples: ['svc mirror pull && svc rehearse -- svc tickets close 8'],
    run: (ctx, given) =>
      exec.run(ctx, {
        ...given,
        flags: { ...given.flags, diff: true, seed: 'mirror' } as Parameters<typeof exec.run>[1]['flags'],
      }),
  });
};
