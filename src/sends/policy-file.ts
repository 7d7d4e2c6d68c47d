import { join } from 'node:path';
import type { Context } from '../context.ts';
import { isPlainFile, readRulesIfThere } from '../disk/atomic-file.ts';
import { Failure, messageOf } from '../errors.ts';
import { issueInWords } from './issue.ts';
import type { Policy } from './policy-schema.ts';

type PolicyPorts = Pick<Context, 'env' | 'files'>;

/** Where the rules may stand: in the configuration folder, and where SVC_POLICY says. All of them hold. */
const policyPaths = ({ env, files }: PolicyPorts): readonly { readonly path: string; readonly mustBe: boolean }[] => [
  { path: join(files.config, 'policy.yaml'), mustBe: false },
  ...(env.SVC_POLICY ? [{ path: env.SVC_POLICY, mustBe: true }] : []),
];

/**
 * The policies that hold; none where there is no file.
 *
 * @throws Failure `policy` where one cannot be read or does not check: then nothing may be sent
 */
export async function readPolicies(ctx: PolicyPorts): Promise<readonly Policy[]> {
  const policies: Policy[] = [];
  for (const { path, mustBe } of policyPaths(ctx)) {
    const text = await readPlain(path).catch((error: unknown) => {
      throw unusable(path, messageOf(error));
    });
    if (text !== undefined) policies.push(await parsePolicy(path, text));
    else if (mustBe) throw unusable(path, 'it is not there');
  }
  return policies;
}

/** What a pipe or a device gives is gone with the first reading. */
async function readPlain(path: string): Promise<string | undefined> {
  const text = await readRulesIfThere(path);
  if (text !== undefined && !isPlainFile(path)) throw new Error('it is no plain file');
  return text;
}

async function parsePolicy(path: string, text: string): Promise<Policy> {
  const [{ parse }, v, { PolicyFile }] = [
    await import('yaml'),
    await import('valibot'),
    await import('./policy-schema.ts'),
  ];
  let read: unknown;
  try {
    read = parse(text);
  } catch (error) {
    throw unusable(path, messageOf(error).split('\n')[0] ?? '');
  }
  if (read === null || read === undefined) throw unusable(path, 'it is empty');
  const checked = v.safeParse(PolicyFile, read);
  if (checked.success) return { path, sends: checked.output.sends };
  // A misspelt key says more than the one that is therefore missing.
  const issue = checked.issues.find(({ expected }) => expected === 'never') ?? checked.issues[0];
  throw unusable(path, issueInWords(issue));
}

const unusable = (path: string, why: string): Failure =>
  new Failure('policy', `The policy ${path} cannot be used, so nothing is sent: ${why.replace(/\.$/u, '')}.`, {
    hint: 'Correct the file: svc doctor judges it. To leave a draft meanwhile: --draft',
    isHeld: true,
  });
