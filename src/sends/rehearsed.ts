import { join } from 'node:path';
import { type Settings, stricter } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { replaceFile } from '../disk/file/atomic-file.ts';
import { copyFolder } from '../disk/file/private-folder.ts';
import { policiesToHandOn, type RuleFile } from './policy-file.ts';

/**
 * The user's mode and rules, for a command that is rehearsed in a folder of its own. Mode `ask` asks nobody there: in a
 * script it would end what only looks.
 */
export async function limitsOfRehearsal(ctx: Context, settings: Settings, folder: string) {
  const policies = await policiesToHandOn(ctx);
  const mode = stricter(settings.sends, ...policies.map(({ sends }) => sends?.mode));
  const paths: string[] = [];
  const copied: string[] = [];
  for (const [at, policy] of policies.entries()) {
    const [path] = await withoutAsking(policy, join(folder, `policy-${at + 1}.yaml`));
    if (path === undefined) continue;
    paths.push(path);
    if (path !== policy.path || at + 1 < policies.length) copied.push(policy.path);
  }
  // By its own path, which a refusal names; where there are two the other one stands in the folder.
  if (paths.length > 1) await copyFolder(`${paths[0]}`, join(folder, 'config', 'policy.yaml'));
  return {
    env: { SVC_SENDS: settings.sends === 'draft' ? 'draft' : undefined, SVC_POLICY: paths.at(-1) },
    /** Where the command behaves otherwise than for real, or names something that goes away with it. */
    told: [(mode && told[mode]) ?? [], copied.length > 0 ? copiedFrom(copied) : []].flat(),
  };
}

const copiedFrom = (paths: readonly string[]): string =>
  `A refusal of the policy may name a copy, which goes away with the rehearsal: the rule stands in ${paths.join(' or ')}.`;

/** Where the same rules stand: in a copy where they ask, nowhere where they say nothing else. */
async function withoutAsking({ path, sends }: RuleFile, copy: string): Promise<readonly string[]> {
  const { mode, ...rules } = sends ?? {};
  if (mode !== 'ask') return [path];
  if (Object.keys(rules).length === 0) return [];
  // JSON is YAML, too.
  await replaceFile(copy, JSON.stringify({ sends: rules }));
  return [copy];
}

const told = {
  allow: undefined,
  ask: 'For real a person is asked before each send (sends is ask); here that counts as agreed.',
  draft: 'Each send becomes a draft (sends is draft); those of the rehearsal go away with it.',
} as const;
