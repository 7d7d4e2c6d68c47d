import type { SendRequest } from '../context.ts';
import { Failure } from '../errors.ts';
import { filtered } from '../output/jq.ts';
import type { Judging } from './lazy.ts';
import type { Policy } from './policy-schema.ts';
import { isQuiet } from './quiet.ts';
import { hasRoom } from './rate.ts';
import { whoIs } from './who.ts';

type Fields = Readonly<Record<string, unknown>>;

export type Asked = { readonly request: SendRequest; readonly read: () => Promise<Fields | undefined> };

/** The first rule that forbids it, as a failure that names it; undefined where none does. All policies hold. */
export async function refusalBy(
  policies: readonly Policy[],
  judging: Judging,
  asked: Asked,
): Promise<Failure | undefined> {
  const { ctx } = judging;
  for (const { path, sends } of policies) {
    const { quiet, deny, allow } = sends;
    if (quiet && isQuiet(quiet, ctx.clock.now())) return refused(path, 'quiet', 'it is quiet time');
    if (deny !== undefined && !(await isFalse(judging, deny, asked))) return refused(path, 'deny', `deny: ${deny}`);
    if (allow !== undefined && !(await isTrue(judging, allow, asked))) return refused(path, 'allow', `allow: ${allow}`);
  }
  return undefined;
}

/** The last question: what has room is counted. */
export async function refusalByRate(policies: readonly Policy[], { ctx }: Judging): Promise<Failure | undefined> {
  const limits = policies.flatMap(({ path, sends: { max_per_hour: most } }) =>
    most === undefined ? [] : [{ path, most }],
  );
  const [lowest] = limits.sort((a, b) => a.most - b.most);
  if (!lowest || (await hasRoom(ctx, lowest.most))) return undefined;
  return refused(lowest.path, 'max_per_hour', `${lowest.most} were sent within the hour`);
}

const refused = (path: string, rule: string, why: string): Failure =>
  new Failure('policy', `The policy forbids this (sends.${rule} in ${path}): ${why}.`, {
    hint: 'Nothing was sent. To leave it for later: add --draft',
    isHeld: true,
  });

/** What a filter sees. */
async function subjectOf({ wish }: Judging, { request, read }: Asked) {
  const { operation, body } = request;
  const record = (await read()) ?? null;
  const contact = record ? (record.contact ?? null) : (Object(body).contact ?? null);
  return { operation, record, contact, body: body ?? null, by: whoIs(wish) };
}

/** A filter that fails, or says neither yes nor no, forbids. */
const isTrue = async (judging: Judging, filter: string, asked: Asked): Promise<boolean> =>
  (await outputsOf(judging, filter, asked)).join() === 'true';

const isFalse = async (judging: Judging, filter: string, asked: Asked): Promise<boolean> =>
  (await outputsOf(judging, filter, asked)).every((one) => one === false);

async function outputsOf(judging: Judging, filter: string, asked: Asked): Promise<readonly unknown[]> {
  const subject = await subjectOf(judging, asked);
  return filtered(subject, filter, judging.ctx.signal).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'failed') return ['failed'];
    throw error;
  });
}
