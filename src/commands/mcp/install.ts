import { defineCommand, type Param } from '../../command/command.ts';
import { param } from '../../command/param.ts';
import type { Settings } from '../../config/settings.ts';
import { itself } from '../../disk/place/installed.ts';
import { Failure } from '../../errors.ts';
import { carriedBy } from '../../mcp/carried.ts';
import { type Client, type Configured, clients, type Into, type ServerEntry, titles } from '../../mcp/clients.ts';
import type { Grant } from '../../mcp/tool.ts';
import { bare } from '../../output/bare.ts';
import { listed } from '../../text/listed.ts';
import { shellWord } from '../../text/shell-word.ts';
import { lacksOf } from './lacks.ts';
import { toolFlags } from './tool-flags.ts';

const targets = [...clients, 'print'] as const;

const where: Param<(typeof targets)[number]> = {
  ...(param.choice('', targets) as Param<(typeof targets)[number]>),
  description: 'claude (the desktop app), claude-code (.mcp.json in this folder), cursor, vscode, or print',
  placeholder: 'CLIENT',
  required: true,
};

export const installMcp = defineCommand({
  name: 'install',
  summary: 'Add svc to the configuration of an assistant, or print what to add',
  details:
    'What the file holds besides stays: other servers, and the env of an entry with the same name (in a file that came with a project only its ' +
    'variables that begin with SVC_). No secret is written: svc finds the credential of the profile by itself, so log in first. Variables of your ' +
    'shell that say where svc keeps its files, or what may be sent, are written into the env of the entry. It names this svc by its whole path, ' +
    'since a desktop program may have another PATH than your shell.',
  args: { client: where },
  flags: {
    allowWrite: param.toggle('Let it change records'),
    allowSend: param.toggle('Let it reach customers'),
    draftSends: param.toggle('Let it draft what would reach customers; a person approves it'),
    allowWebhooks: param.toggle('Let it create and delete webhook subscriptions'),
    ...toolFlags,
    name: param.text('Name of the entry (default svc)', { placeholder: 'NAME' }),
    file: param.output('Configuration file of the client, if not the usual one'),
    dryRun: param.toggle('Show what would be written, and write nothing'),
  },
  examples: ['svc mcp install print', 'svc mcp install claude-code', 'svc mcp install cursor --allow-write'],
  async run(ctx, { args: { client }, flags, settings }) {
    const { configFileOf, withServer } = await import('../../mcp/clients.ts');
    const { grantedTools } = await import('../../mcp/tools.ts');
    const { allowWrite: write, allowSend, draftSends, allowWebhooks: webhooks, tools: only, toolsets } = flags;
    const grant = { write, send: allowSend || draftSends, draftSends, webhooks, only, toolsets };
    grantedTools(grant);
    const carried = await carriedBy(ctx, settings);
    const own = entryFor(settings, grant);
    const entry = Object.keys(carried.env).length > 0 ? { ...own, env: carried.env } : own;
    const lacks = await lacksOf(ctx, settings, { client, left: carried.left });
    const name = flags.name ?? 'svc';
    if (client === 'print') {
      const text = withServer({ client: 'claude', name, isOwn: true }, undefined, entry)?.text ?? '';
      return { ...bare(JSON.parse(text), text), notes: lacks };
    }
    const file = flags.file ?? configFileOf(client, ctx.env);
    if (!file)
      throw new Failure('usage', 'svc does not know where your home folder is, so it cannot find the file.', {
        hint: 'Give --file FILE.',
      });
    const isOwn = client !== 'claude-code' && file === configFileOf(client, ctx.env);
    const into = { client, name, isOwn };
    const configured = await enter(file, { into, entry, isDry: flags.dryRun });
    const { isNew, was, kept } = configured;
    const isThere = was === 'other' || was === 'foreign';
    const before = [
      ...strangeWords(file, into, configured),
      ...(isThere ? [beforeWords(name, { ...configured, isDry: flags.dryRun })] : []),
      ...(kept.length > 0
        ? [
            `Kept in the env of ${name}, though your shell says otherwise: ${listed(kept)}. To change that, edit the file.`,
          ]
        : []),
    ];
    const shownEnv = Object.fromEntries(Object.entries(carried.env).filter(([key]) => !kept.includes(key)));
    const written = Object.keys(shownEnv).length > 0 ? { ...own, env: shownEnv } : own;
    if (flags.dryRun) {
      const would = isThere ? `Would change ${name} in ${file}:` : `Would add ${name} to ${file}:`;
      const shown = isNew ? would : `${name} is in ${file} already, just so.`;
      const text = `${shown}\n${isNew ? (withServer({ client, name, isOwn: true }, undefined, written)?.text ?? '') : ''}`;
      return {
        data: { shape: 'record', record: { client, file, name, ...written, written: false } },
        human: () => text,
        plain: () => text,
        notes: [...before, 'Nothing was written.', ...lacks],
      };
    }
    const done = isThere ? `Changed ${name} in ${file}.` : `Added ${name} to ${file}.`;
    return {
      data: { shape: 'record', record: { client, file, name, ...written } },
      said: isNew ? done : `${name} is in ${file} already, just so.`,
      notes: [
        ...before,
        `Restart ${titles[client]}: it reads this file only when it starts.`,
        ...lacks,
        ...(besides(client, name, entry) ?? []),
      ],
    };
  },
});

type Entering = {
  readonly into: Into;
  readonly entry: ServerEntry;
  /** Nothing is written. */
  readonly isDry: boolean;
};

/** What stood there, of which nothing is lost without a word. */
function beforeWords(
  name: string,
  { was, set, out, isDry }: Pick<Configured, 'was' | 'set' | 'out'> & { readonly isDry: boolean },
): string {
  const verb = isDry ? 'would be' : 'was';
  if (was === 'foreign') return `${name} was there already and started no program: that entry ${verb} replaced.`;
  const others =
    set.length > 0
      ? `; of its env ${listed(set)} ${set.length > 1 && !isDry ? 'were' : verb} set; its other settings`
      : '; its other settings, such as env,';
  if (out.length > 0 && set.length === 0) return `${name} was there already: what it starts ${verb} replaced.`;
  return `${name} was there already: what it starts ${verb} replaced${others} stay.`;
}

/** A file that came with a project may be anybody's. */
function strangeWords(file: string, { name }: Into, { out, theirs }: Configured): string[] {
  return [
    ...(out.length > 0
      ? [`Warning: left out of ${name} in ${file}, since they could run code or lead elsewhere: ${listed(out)}.`]
      : []),
    ...(theirs.length > 0
      ? [
          `Warning: ${name} has ${listed(theirs)} of ${file}: whose account it acts in may hang on that. See whether you want it.`,
        ]
      : []),
  ];
}

/** `isNew`: the file becomes another one. */
async function enter(path: string, { into, entry, isDry }: Entering): Promise<{ isNew: boolean } & Configured> {
  const { readIfThere, replaceFile } = await import('../../disk/file/atomic-file.ts');
  const { withServer } = await import('../../mcp/clients.ts');
  const before = await readIfThere(path);
  const configured = withServer(into, before, entry);
  if (configured === undefined) {
    throw new Failure('failed', `${path} is not JSON that svc understands, so it was left as it is.`, {
      hint: 'To see what to add by hand: svc mcp install print',
    });
  }
  const { text } = configured;
  if (text !== before && !isDry) await replaceFile(path, text);
  return { ...configured, isNew: text !== before };
}

/** Two programs have the same name, and keep their servers in different places. */
function besides(client: Client, name: string, { command, args, env = {} }: ServerEntry): string[] | undefined {
  if (client === 'claude')
    return ['Claude Code has a file of its own. To enter svc there: svc mcp install claude-code'];
  if (client !== 'claude-code') return undefined;
  const words = [command, ...args].map(shellWord).join(' ');
  const set = Object.entries(env).map(([key, value]) => `-e ${shellWord(`${key}=${value}`)} `);
  return [
    'It asks once whether it may use a server that comes with a project. This file names svc by its path on this machine.',
    `To have it in every folder instead: claude mcp add --scope user ${shellWord(name)} ${set.join('')}-- ${words}`,
  ];
}

/** Addresses go in where a flag or the environment named them: the client will not have that environment (`carriedBy`). */
function entryFor(settings: Settings, { write, send, draftSends, webhooks, only, toolsets }: Grant): ServerEntry {
  const { profile, profileNamed, baseUrl, baseUrlNamed } = settings;
  const [command = '', ...before] = itself();
  return {
    command,
    args: [
      ...before,
      'mcp',
      ...(profileNamed ? ['--profile', profile] : []),
      ...(baseUrlNamed && baseUrl ? ['--base-url', baseUrl] : []),
      ...(write ? ['--allow-write'] : []),
      ...(draftSends ? ['--draft-sends'] : []),
      ...(send && !draftSends ? ['--allow-send'] : []),
      ...(webhooks ? ['--allow-webhooks'] : []),
      ...(toolsets ? ['--toolsets', toolsets.join(',')] : []),
      ...(only ? ['--tools', only.join(',')] : []),
    ],
  };
}
