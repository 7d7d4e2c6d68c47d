import { join } from 'node:path';
import type { Context } from '../context.ts';
import { isPlainFile, readRulesIfThere } from '../disk/file/atomic-file.ts';
import { asNamed } from '../disk/place/home.ts';
import { Failure, messageOf } from '../errors.ts';
import type { Policy } from './policy-schema.ts';

type PolicyPorts = Pick<Context, 'env' | 'files'>;

type Place = { readonly path: string; readonly mustBe: boolean };

/** Where the rules may stand: in the configuration folder, and where SVC_POLICY says. All of them hold. */
const policyPlaces = ({ env, files }: PolicyPorts): readonly Place[] => [
  { path: join(files.config, 'policy.yaml'), mustBe: false },
  ...(env.SVC_POLICY ? [{ path: asNamed(env.SVC_POLICY, 'SVC_POLICY'), mustBe: true }] : []),
];

/**
 * The policies that hold; none where there is no file.
 *
 * @throws Failure `policy` where one cannot be read or does not check: then nothing may be sent
 */
export async function readPolicies(ctx: PolicyPorts): Promise<readonly Policy[]> {
  const policies: Policy[] = [];
  for (const place of policyPlaces(ctx)) policies.push(...(await policyAt(place)));
  return policies;
}

export type RuleFile = Pick<Policy, 'path'> & Partial<Policy>;

/** The same for whoever hands them on: of one that cannot be used the path alone. */
export async function policiesToHandOn(ctx: PolicyPorts): Promise<readonly RuleFile[]> {
  const found = policyPlaces(ctx).map((place) => policyAt(place).catch(() => [{ path: place.path }]));
  return (await Promise.all(found)).flat();
}

async function policyAt({ path, mustBe }: Place): Promise<readonly Policy[]> {
  const text = await readPlain(path).catch((error: unknown) => {
    throw unusable(path, messageOf(error));
  });
  if (text !== undefined) return [await parsePolicy(path, text)];
  if (mustBe) throw unusable(path, 'it is not there');
  return [];
}

/** What a pipe or a device gives is gone with the first reading. */
async function readPlain(path: string): Promise<string | undefined> {
  const text = await readRulesIfThere(path);
  if (text !== undefined && !isPlainFile(path)) throw new Error('it is no plain file');
  return text;
}

async function parsePolicy(path: string, text: string): Promise<Policy> {
  const [{ parse }, { checkedPolicy }] = [await import('yaml'), await import('./policy-schema.ts')];
  let read: unknown;
  try {
    read = parse(text);
  } catch (error) {
    throw unusable(path, messageOf(error).split('\n')[0] ?? '');
  }
  if (read === null || read === undefined) throw unusable(path, 'it is empty');
  const checked = checkedPolicy(read);
  if ('problem' in checked) throw unusable(path, checked.problem);
  return { path, sends: checked.sends };
}

const unusable = (path: string, why: string): Failure =>
  new Failure('policy', `The policy ${path} cannot be used, so nothing is sent: ${why.replace(/\.$/u, '')}.`, {
    hint: 'Correct the file: svc doctor judges it. To leave a draft meanwhile: --draft',
    isHeld: true,
  });
