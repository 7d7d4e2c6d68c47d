import { parseArgsStringToArgv } from 'string-argv';
import type { AnyCommand, TopGroup } from '../src/command/command.ts';
import { entries } from '../src/commands/index.ts';

/** A command of the tree and a line that runs it, without what only a shell could do. */
export type CommandLine = {
  /** `tickets close`. */
  readonly name: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string | undefined;
};

/** Whose examples are for a shell alone, and a plain line for each. */
const plainLines: Readonly<Record<string, string>> = {
  'webhooks verify': "echo '{}' | SVC_WEBHOOK_SECRET=sample svc webhooks verify --body - --signature wrong",
  rehearse: 'svc rehearse -- svc whoami',
  'templates show': 'svc templates show thanks',
  'views show': 'svc views show waiting',
  'drafts approve': 'svc drafts approve 1',
  'auth token': 'svc auth token',
  'auth login': 'echo key_acme | svc auth login --with-api-key',
  'auth logout': 'svc auth logout',
  'auth status': 'svc auth status',
};

type Leaf = { readonly name: string; readonly command: AnyCommand };

/** Every command there is, in the order of the tree. */
export async function allCommands(): Promise<Leaf[]> {
  const leaves: Leaf[] = [];
  const collect = (node: TopGroup | AnyCommand, names: readonly string[]): void => {
    if (!('commands' in node)) return void leaves.push({ name: names.join(' '), command: node });
    if (node.itself) leaves.push({ name: names.join(' '), command: node.itself });
    for (const child of node.commands) collect(child, [...names, child.name]);
  };
  for (const entry of entries) collect(await entry.load(), [entry.name]);
  return leaves;
}

/** Its first example that needs no shell; undefined where it has none. */
export function lineOf({ name, command }: Leaf, key: string): CommandLine | undefined {
  const lines = [plainLines[name], ...command.examples].filter((line) => line !== undefined);
  for (const line of lines) {
    const parsed = parseLine(line.replaceAll('$SVC_API_KEY', key));
    // An example may show another command at work.
    if (parsed && parsed.argv.slice(0, name.split(' ').length).join(' ') === name) return { name, ...parsed };
  }
  return undefined;
}

/** `[echo TEXT |] [NAME=VALUE …] svc WORD … [> FILE | …]` */
function parseLine(line: string): Omit<CommandLine, 'name'> | undefined {
  if (line.includes('$')) return undefined;
  const parts: string[][] = [[]];
  for (const word of parseArgsStringToArgv(line)) {
    if (word === '|') parts.push([]);
    else parts.at(-1)?.push(word);
  }
  const [first = [], second] = parts;
  const isFed = first[0] === 'echo' || first[0] === 'printf';
  const words = isFed ? (second ?? []) : first;
  const start = words.indexOf('svc');
  if (start < 0) return undefined;
  const env = words.slice(0, start).map((word) => word.split('=', 2) as [string, string]);
  if (env.some(([, value]) => value === undefined)) return undefined;
  const end = words.indexOf('>');
  return {
    argv: words.slice(start + 1, end < 0 ? undefined : end),
    env: Object.fromEntries(env),
    stdin: isFed ? `${first.slice(1).join(' ').replaceAll('\\n', '\n')}\n` : undefined,
  };
}
