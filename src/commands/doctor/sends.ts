import { readConfig } from '../../config/config-file.ts';
import { type Settings, stricter } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { checkFilter } from '../../output/jq.ts';
import { insteadOf } from '../../promise/instead-of.ts';
import { readPolicies } from '../../sends/policy-file.ts';
import { type Check, fine, wrong } from './check.ts';

/** What holds sends back here; nothing where nothing does. */
export async function sendsChecks(ctx: Context, settings: Settings): Promise<readonly Check[]> {
  const name = 'sends';
  try {
    const policies = await readPolicies(ctx);
    for (const { path, sends } of policies) {
      for (const filter of [sends.allow, sends.deny]) if (filter !== undefined) await judged(path, filter, ctx.signal);
    }
    const isKnown = await readConfig(ctx.files).then(() => true, insteadOf('any', false));
    const mode = stricter(settings.sends, ...policies.map(({ sends }) => sends.mode));
    if (isKnown && policies.length === 0 && mode === 'allow') return [];
    const files = policies.map(({ path }) => path).join(', ');
    const known = `${mode}${files === '' ? '' : `, with the policy in ${files}`}`;
    if (isKnown) return [fine(name, `Sends are on ${known}.`)];
    const message = `Sends are on ${known}, or on what is stricter: the configuration may say so, and cannot be read.`;
    return [wrong(name, message, 'Repair the configuration first.')];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ name, ok: false, message: error.message, fix: error.kind === 'usage' ? (error.hint ?? null) : keysHint }];
  }
}

const keysHint = 'Correct the file: svc help sends has its keys.';

async function judged(path: string, filter: string, signal: AbortSignal): Promise<void> {
  await checkFilter(filter, signal).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    throw new Failure('policy', `The policy ${path} has a filter that cannot be used: ${error.message}`);
  });
}
