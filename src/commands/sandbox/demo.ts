import { defineCommand } from '../../command/command.ts';
import { installed, itself, typedAs } from '../../disk/place/installed.ts';
import { Failure, interruption } from '../../errors.ts';
import type { Terminal } from '../../output/view.ts';
import { environmentFor, ownFolder } from '../../sandbox/environment.ts';
import { message } from '../../text/layout.ts';
import { shellWord } from '../../text/shell-word.ts';
import { runChild } from './child.ts';

export const demo = defineCommand({
  name: 'demo',
  summary: 'See a messy CSV go into a sandbox, in a few seconds',
  details:
    'Starts a sandbox of its own and runs real commands against it, each printed before it runs: 1,000 rows as another ' +
    'tool exports them are synced, the rejected ones kept in a file, and the result listed. Your own account, login ' +
    'and settings are left alone.',
  forms: ['table'],
  examples: ['svc sandbox demo'],
  async run(ctx) {
    const { openSandbox } = await import('../../sandbox/open.ts');
    const { exampleFile, makeLastingFolder, makePrivateFolder } = await import('../../disk/file/private-folder.ts');
    const { join, relative } = process.getBuiltinModule('node:path');

    const example = await exampleFile(process.argv[1] ?? '', 'contacts.csv');
    const { workingFolder } = await import('../../disk/place/working-folder.ts');
    const here = workingFolder();
    const near = (path: string) => {
      const nearby = here === undefined ? '..' : relative(here, path);
      return nearby.startsWith('..') ? path : nearby;
    };
    const file = near(example);
    const { how, path } = installed();
    const typed = typedAs({ how, path: shellWord(near(path)) }, process.argv[1] ?? '');
    // Kept, so that what the demo says can be looked at afterwards.
    const rejects = join(await makeLastingFolder('svc-demo-'), 'rejects.csv');
    const steps = [
      {
        says: 'A CSV as another tool exported it goes into the account. Rows that cannot be sent are kept in a file.',
        words: ['contacts', 'sync', file, '--rejects', rejects],
        mayExit: [8],
      },
      { says: 'They are there:', words: ['contacts', 'list', '--limit', '5'], mayExit: [0] },
      {
        says: 'Syncing the same file again makes nobody twice: a contact that is there is only completed.',
        words: ['contacts', 'sync', file, '--quiet', '--jq', '"\\(.created) created, \\(.updated) updated"'],
        mayExit: [8],
      },
    ];

    async function* lines(): AsyncGenerator<string> {
      const folder = await makePrivateFolder(ownFolder);
      const running = await openSandbox({ port: 0 }, ctx.notice);
      try {
        // A pager would wait for a key in the middle of the story, and JSON is not what it tells of.
        const env = { ...environmentFor(ctx.env, running.address, folder.path), PAGER: 'cat', SVC_OUTPUT: '' };
        yield `A sandbox answers at ${running.address.base_url}.\nTo type these commands yourself: ${typed} sandbox exec -- sh`;
        for (const { says, words, mayExit } of steps) {
          yield `\n${says}\n\n$ ${['svc', ...words].map(shellWord).join(' ')}`;
          const code = await runChild(ctx, [...itself(), ...words], env);
          if (ctx.signal.aborted) throw interruption(ctx.signal);
          if (typeof code !== 'number') throw new Failure('failed', code.problem);
          if (!mayExit.includes(code)) throw new Failure('failed', `That command ended with exit code ${code}.`);
        }
        yield `\nThe rejected rows, with what is wrong with each: ${rejects}`;
        yield 'This sandbox ends now: the same commands outside of one go to your own account.';
      } finally {
        await running.close();
        await folder.remove();
      }
    }
    return { data: { shape: 'stream', records: lines(), line: lineOf } };
  },
});

/** A command stays a line, so that it can be copied. */
const lineOf = (text: string, terminal: Terminal | undefined): string =>
  text
    .split('\n')
    .map((line) => (terminal && !line.startsWith('$ ') ? message(line, terminal.width) : line))
    .join('\n');
