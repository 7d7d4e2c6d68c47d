import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AnyCommand, TopGroup } from '../src/command/command.ts';
import { entries } from '../src/commands/index.ts';
import { topicTexts } from '../src/program/topic-texts.ts';
import { type SandboxWorld, sandboxWorld } from './sandbox-world.ts';
import { svc } from './svc.ts';

const path = join(import.meta.dirname, '..', 'README.md');
const terminal = { columns: 96, env: { NO_COLOR: '1' } };
const shown = /```console\n\$ (svc [^\n]*)\n[\s\S]*?```/u;

/** The words of a command line as a shell would split them; the README quotes with ' alone. */
const words = (line: string): string[] => [...line.matchAll(/'([^']*)'|(\S+)/gu)].map((m) => m[1] ?? m[2] ?? '');

/** What a line prints on a terminal; of several commands joined by `|` the last one alone has it for its output. */
async function printedBy(line: string, world: SandboxWorld): Promise<string> {
  const commands = line.split(' | ');
  let told = '';
  let stdin: string | undefined;
  for (const [i, command] of commands.entries()) {
    const isLast = i === commands.length - 1;
    const [, ...argv] = words(command);
    const ran = await svc(world, argv, {
      ...terminal,
      ...(!isLast && { columns: undefined }),
      ...(stdin && { stdin }),
    });
    stdin = ran.stdout;
    told += `${isLast ? ran.stdout : ''}${ran.stderr}`;
  }
  return told.trimEnd().replace(/[ \t]+$/gmu, '');
}

/**
 * Every block of the README that shows a command, with what svc really prints for it. A comment `fault: {…}` above a
 * block is a fault that the sandbox has then.
 */
async function withOutputs(readme: string): Promise<string> {
  const world = sandboxWorld({ rateLimit: 'off' });
  let whole = '';
  let rest = readme;
  for (let block = shown.exec(rest); block; block = shown.exec(rest)) {
    const [text = '', line = ''] = block;
    const above = rest.slice(0, block.index);
    for (const [, fault = ''] of above.matchAll(/<!-- fault: (\{.*\}) -->/gu))
      await world.control('POST', 'faults', JSON.parse(fault));
    whole += `${above}\`\`\`console\n$ ${line}\n${await printedBy(line, world)}\n\`\`\``;
    rest = rest.slice(block.index + text.length);
  }
  const log = JSON.stringify(await world.control('GET', 'log'));
  expect(log.match(/"fault":"drop-after"/gu)).toHaveLength(readme.match(/<!-- fault: /gu)?.length ?? 0);
  return whole + rest;
}

const between = (readme: string, name: string, content: string): string =>
  readme.replace(
    new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`, 'u'),
    (_, open, close) => `${open}${content}\n${close}`,
  );

async function commandTable(): Promise<string> {
  const rows: string[] = [];
  const walk = (node: TopGroup | AnyCommand, names: readonly string[]) => {
    if ('hidden' in node && node.hidden) return;
    if ('commands' in node) for (const child of node.commands) walk(child, [...names, child.name]);
    else rows.push(`| \`svc ${names.join(' ')}\` | ${node.summary.replaceAll('|', '\\|')} |`);
  };
  for (const entry of entries) walk(await entry.load(), [entry.name]);
  return ['| command | |', '| --- | --- |', ...rows].join('\n');
}

function exitCodeTable(): string {
  const text = topicTexts['exit-codes'](120);
  const rows = [...text.matchAll(/^ +(\d+) {2}(?:([\w-]+): )?(.*)$/gmu)].map(([, code, kind, meaning]) =>
    kind ? `| ${code} | ${kind} | ${meaning} |` : `| ${code} | | ${meaning} |`,
  );
  return ['| code | kind | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

test('the README shows what svc really prints, its commands and its exit codes', async () => {
  const readme = await readFile(path, 'utf8');
  let real = await withOutputs(readme);
  real = between(real, 'exit-codes', exitCodeTable());
  real = between(real, 'commands', await commandTable());
  await rm('rejects.csv', { force: true });
  // `npm run readme` writes it anew.
  if (process.env.UPDATE_README) await writeFile(path, real);
  else expect(readme).toBe(real);
});

test('the README begins with the demo and the tests, and CI runs the tests by that very command', async () => {
  const commands = [...(await readFile(path, 'utf8')).matchAll(/^```sh\n(.*)\n```$/gmu)].map(([, command]) => command);
  expect(commands.slice(0, 2)).toEqual(['npm ci && npm run demo', 'npm test']);
  const ci = await readFile(join(import.meta.dirname, '..', '.ci', 'run'), 'utf8');
  expect(ci).toMatch(/^(?:\w+=\S+ )*npm test$/mu);
});
