import { join } from 'node:path';
import { type AnyCommand, type Command, defineCommand, type Param, type TopGroup } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Shown } from '../../derive/skill.ts';
import { homeFolder } from '../../disk/place/home.ts';
import { Failure } from '../../errors.ts';
import { bare } from '../../output/bare.ts';

/** Assistants that read skills, by the folder in HOME that shows that they are there. */
const programs = {
  claude: { title: 'Claude Code', folder: '.claude' },
  codex: { title: 'Codex', folder: '.codex' },
  cursor: { title: 'Cursor', folder: '.cursor' },
  gemini: { title: 'Gemini CLI', folder: '.gemini' },
  copilot: { title: 'Copilot CLI', folder: '.copilot' },
} as const;

type Program = keyof typeof programs;

// Object.keys does not know that these are all.
const programNames = Object.keys(programs) as Program[];

/** Where a program looks for a skill of that name. */
function placeOf(program: Program, home: string) {
  const folder = join(home, programs[program].folder);
  return { home: folder, file: join(folder, 'skills', 'svc', 'SKILL.md') };
}

/** The commands of svc, as far as this group knows them: it is made with them, since groups do not import each other. */
type Tree = readonly { readonly name: string; readonly load: () => Promise<TopGroup | AnyCommand> }[];

export const skillOver = (tree: Tree): TopGroup => ({
  summary: 'What an assistant should know about svc',
  commands: [printSkill(tree), installSkill(tree)],
});

const printSkill = (tree: Tree) =>
  defineCommand({
    name: 'print',
    summary: 'Print the skill (SKILL.md): when to use svc, its commands, exit codes, safety, recipes',
    examples: ['svc skill print', 'svc skill print > SKILL.md'],
    async run() {
      const markdown = await skillText(tree);
      return bare({ name: 'svc', markdown }, markdown);
    },
  });

const which = param.choice('Which assistant (default: all that are there)', programNames);

const installSkill = (tree: Tree) =>
  defineCommand({
    name: 'install',
    summary: 'Put the skill where assistants look for it',
    details:
      'Only for programs that are there: their folder in HOME exists. Run it again after an update of svc. A SKILL.md that ' +
      'svc did not write is left as it is.',
    args: { program: { ...which, placeholder: 'PROGRAM' } },
    flags: { dryRun: param.toggle('Show which files would be written, and write nothing') },
    needs: 'a program that reads skills: its folder, such as ~/.claude for Claude Code',
    examples: ['svc skill install', 'svc skill install claude'],
    async run(ctx, { args: { program }, flags: { dryRun } }) {
      const home = homeFolder(ctx.env);
      if (!home)
        throw new Failure('usage', 'svc does not know where your home folder is, so it cannot find the assistants.');
      const text = await skillText(tree);
      const chosen = await present(home, program);
      const files = await Promise.all(
        chosen.map(async (each) => ({ program: each, file: await put(home, each, text, { isDry: dryRun }) })),
      );
      const done = dryRun ? 'Would be installed for' : 'Installed for';
      const lines = files.map((each) => `${done} ${programs[each.program].title}: ${each.file}`).join('\n');
      return { data: { shape: 'record', record: { installed: files } }, said: lines };
    },
  });

/** The programs that are there; the one that was named must be. */
async function present(home: string, named: Program | undefined): Promise<Program[]> {
  const { isThere } = await import('../../disk/file/atomic-file.ts');
  const wanted = named ? [named] : programNames;
  const found: Program[] = [];
  for (const each of wanted) if (await isThere(placeOf(each, home).home)) found.push(each);
  if (found.length > 0) return found;
  const folders = wanted.map((each) => placeOf(each, home).home).join(', ');
  const who = named ? `${programs[named].title} was not` : 'No assistant was';
  throw new Failure('failed', `${who} found: there is no ${folders}.`, {
    hint: 'To save the skill yourself: svc skill print > SKILL.md',
  });
}

async function put(
  home: string,
  program: Program,
  text: string,
  { isDry }: { readonly isDry: boolean },
): Promise<string> {
  const { readIfThere, replaceFile } = await import('../../disk/file/atomic-file.ts');
  const { mark } = await import('../../derive/skill.ts');
  const { file } = placeOf(program, home);
  const before = await readIfThere(file);
  if (before !== undefined && !before.includes(mark)) {
    throw new Failure('failed', `${file} was not written by svc, so it was left as it is.`, {
      hint: 'Move it away, then run: svc skill install',
    });
  }
  // Not secret: other programs of this user, and people, may read it.
  if (before !== text && !isDry) await replaceFile(file, text, 0o644);
  return file;
}

async function skillText(tree: Tree): Promise<string> {
  const { mattering, skillOf } = await import('../../derive/skill.ts');
  return skillOf(await Promise.all(mattering.map((words) => shownIn(tree, words))));
}

/** A command of the tree with its usage. */
async function shownIn(tree: Tree, words: string): Promise<Shown> {
  const [first = '', ...rest] = words.split(' ');
  let node: TopGroup | AnyCommand | undefined = await tree.find(({ name }) => name === first)?.load();
  for (const word of rest)
    node = node && 'commands' in node ? node.commands.find(({ name }) => name === word) : undefined;
  const command = node && 'commands' in node ? node.itself : node;
  if (!command) throw new Error(`There is no command ${words}.`);
  return { words, usage: ['svc', words, ...argumentsOf(command)].join(' '), summary: command.summary };
}

const argumentsOf = ({ args, passThrough }: Command): string[] =>
  Object.entries(args as Readonly<Record<string, Param<unknown>>>).map(([name, { placeholder, required, many }]) => {
    const word = `${placeholder ?? name.toUpperCase()}${many ? ' …' : ''}`;
    if (passThrough) return `-- ${word}`;
    return required ? word : `[${word}]`;
  });
