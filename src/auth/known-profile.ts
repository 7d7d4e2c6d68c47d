import { readConfig } from '../config/config-file.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { nearest } from '../text/near.ts';
import { environmentKinds } from './at-hand.ts';
import { heldByProfile, loginCommand } from './credentials.ts';

type Ports = Pick<Context, 'env' | 'files' | 'tokens'>;

/** Profiles with a login or settings of their own, in order. */
export async function knownProfiles({ files, tokens }: Pick<Ports, 'files' | 'tokens'>): Promise<readonly string[]> {
  const { profiles = {} } = await readConfig(files);
  return [...new Set([...Object.keys(profiles), ...(await heldByProfile(tokens)).keys()])].sort();
}

/** `names`: those that it may be a slip of. */
export function profileNotThere(name: string, known: readonly string[], names = known): Failure {
  const near = nearest(name, names);
  return new Failure('usage', `There is no profile ${name}${near ? `; did you mean ${near}?` : '.'}`, {
    hint: `${known.length > 0 ? `There are: ${known.join(', ')}. ` : ''}To make it: svc login --profile ${name}`,
  });
}

/**
 * Before a setting of a profile is kept. Undefined where the profile is known; a sentence where nothing else is saved of it.
 *
 * @param isGuard of a mistyped profile it would guard nothing
 * @throws Failure `usage` for a guard of a profile whose name is near to another, unless the environment holds a credential
 */
export async function profileDoubt(ctx: Ports, name: string, isGuard: boolean): Promise<string | undefined> {
  const { profiles = {} } = await readConfig(ctx.files);
  if (name === 'default' || Object.hasOwn(profiles, name)) return undefined;
  // A store that cannot be read keeps nobody from a setting.
  const known = await knownProfiles(ctx).catch(() => Object.keys(profiles));
  if (known.includes(name)) return undefined;
  const names = [...known, 'default'];
  const near = nearest(name, names);
  if (isGuard && near !== undefined && environmentKinds(ctx.env).length === 0)
    throw profileNotThere(name, known, names);
  const meant = near === undefined ? '.' : `; did you mean ${near}?`;
  return `Nothing else is saved of profile ${name}${meant} To log in there: ${loginCommand('oauth', name)}`;
}
