import { defineCommand, type TopGroup } from '../../command/command.ts';
import type { LoadNamed } from '../../command/find-command.ts';
import { param } from '../../command/param.ts';
import { aliasOf, wordsOf } from '../../config/aliases.ts';
import { commandNames, isCommandName } from '../../config/command-names.ts';
import { readConfig, updateConfig } from '../../config/config-file.ts';
import { Failure } from '../../errors.ts';
import { onlyNotes } from '../../output/only-notes.ts';
import { nearHint } from '../../text/near.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { refuseNeverRuns } from './never-runs.ts';

const list = defineCommand({
  name: 'list',
  summary: 'List your own names and what they stand for',
  examples: ['svc alias list'],
  async run(ctx) {
    const { aliases = {} } = await readConfig(ctx.files);
    const records = Object.entries(aliases)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, command]) => ({ name, command }));
    const columns = ['name', 'command'];
    return {
      read: true,
      data: { shape: 'list', records, columns, known: columns, empty: 'There are no aliases.' },
    };
  },
});

const readOn = { hint: 'Run: svc help aliases' };

const setOver = (load: LoadNamed) =>
  defineCommand({
    name: 'set',
    summary: 'Give a command a name of your own',
    details:
      'What is typed behind the name is added at the end. A name never stands in place of a command of svc. See: svc help aliases',
    args: {
      name: param.requiredText('The new name', { placeholder: 'NAME' }),
      command: param.texts('What it stands for, in quotes', { placeholder: 'COMMAND', required: true, isLine: true }),
    },
    examples: [
      "svc alias set mine 'tickets list --status unresolved'",
      `svc alias set emails "contacts list --all --jq '.[].email'"`,
    ],
    async run(ctx, { args: { name, command } }) {
      if (!/^[A-Za-z][\w-]{0,39}$/u.test(name)) {
        throw new Failure('usage', `"${name}" is not a name for a command.`, {
          hint: 'Use up to 40 letters, digits, dashes and underscores, beginning with a letter.',
        });
      }
      if (isCommandName(name)) throw new Failure('usage', `${name} is a command of svc; choose another name.`);
      const line = command.length === 1 ? (command[0] ?? '') : command.map(shellWord).join(' ');
      if (isOpen(line)) {
        throw new Failure('usage', 'COMMAND holds a quote that does not close, or one behind a backslash.', readOn);
      }
      const words = wordsOf(line);
      if (command.length > 1 && words.join('\n') !== command.join('\n')) {
        throw new Failure('usage', 'COMMAND holds quotes; put the whole of it into quotes.', readOn);
      }
      if (words.length === 0) throw new Failure('usage', 'COMMAND is empty.');
      const placeholder = words.find((word) => /^(?:--[\w-]+=)?\$(?:[\d@*]|\{\d\})$/u.test(word));
      if (placeholder !== undefined) {
        throw new Failure('usage', `COMMAND holds ${placeholder}, and an alias has no places for arguments.`, {
          hint: `What is typed behind ${name} goes to the end: leave it out.`,
        });
      }
      await refuseNeverRuns(words, load);
      let before: string | undefined;
      await updateConfig(ctx, (config) => {
        before = aliasOf(config, name);
        const isKnown = (word: string) => isCommandName(word) || aliasOf(config, word) !== undefined;
        const [first = ''] = words;
        // Behind a flag that takes a value the command may be any word.
        const known = first.startsWith('-') ? words.some(isKnown) : isKnown(first);
        if (known) return { ...config, aliases: { ...config.aliases, [name]: line.trim() } };
        throw new Failure('usage', `"${sanitize(line)}" names no command of svc.`, {
          hint: nearHint(first, [...commandNames, ...Object.keys(config.aliases ?? {})]) ?? 'Run: svc --help',
        });
      });
      return onlyNotes({ name, command: line.trim() }, [
        `svc ${name} is now: ${shown(line)}`,
        ...(before === undefined || shown(before) === shown(line) ? [] : [`Before, it was: ${shown(before)}`]),
      ]);
    },
  });

const shown = (line: string): string => `svc ${sanitize(wordsOf(line).map(shellWord).join(' '))}`;

/** Whether a quote in it does not close, or is escaped, which svc does not read: nobody can say where its last word ends. */
const isOpen = (line: string): boolean =>
  /['"]/u.test(line.replaceAll(/"[^"]*"|'[^']*'/gu, '')) || /\\["']/u.test(line.replaceAll(/'[^']*'/gu, ''));

const remove = defineCommand({
  name: 'delete',
  summary: 'Forget a name of your own',
  args: { name: param.requiredText('Which name', { placeholder: 'NAME', completes: 'aliases' }) },
  needs: 'the alias: svc alias set',
  examples: ['svc alias delete mine'],
  async run(ctx, { args: { name } }) {
    await updateConfig(ctx, (config) => {
      if (aliasOf(config, name) === undefined) {
        throw new Failure('not-found', `There is no alias ${name}.`, { hint: 'Run: svc alias list' });
      }
      const { [name]: _, ...left } = config.aliases ?? {};
      return { ...config, aliases: left };
    });
    return onlyNotes({ name, command: null }, [`The alias ${name} is forgotten.`]);
  },
});

export const alias = (load: LoadNamed): TopGroup => ({ commands: [list, setOver(load), remove] });
