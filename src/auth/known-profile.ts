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
 * Before a setting of a profile is kept: a guard on a mistyped one guards nothing. Undefined where the profile is known;
 * a sentence where it may be meant, since nothing is saved yet that it could be a slip of, or the environment holds its
 * credential. Throws a usage Failure otherwise.
 */
export async function profileDoubt(ctx: Ports, name: string): Promise<string | undefined> {
  const known = await knownProfiles(ctx);
  if (name === 'default' || known.includes(name)) return undefined;
  const names = [...known, 'default'];
  const mayBeMeant = known.length === 0 || environmentKinds(ctx.env).length > 0;
  if (!mayBeMeant || nearest(name, names) !== undefined) throw profileNotThere(name, known, names);
  return `Nothing else is saved of profile ${name}. To log in there: ${loginCommand('oauth', name)}`;
}
