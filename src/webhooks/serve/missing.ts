import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { isPostgresUrl } from '../../database/place.ts';
import { whatIsWrongWith } from '../../disk/place/folder-check.ts';
import { isMissing } from '../../disk/place/program.ts';
import { messageOf } from '../../errors.ts';
import { inTime } from '../../promise/in-time.ts';
import { number } from '../../text/number.ts';
import type { Place } from '../store/place.ts';
import { splitSecrets } from '../subscriptions/secrets.ts';
import type { Configured } from './config.ts';
import { type ServeConfig, usualSecret } from './config-schema.ts';
import { judgedSecrets } from './doors.ts';

/** What is not here, in a sentence. `stops`: for that `serve` would not start here. */
export type Missing = { readonly said: string; readonly stops: boolean };

const starting = (said: readonly string[]): Missing[] => said.map((each) => ({ said: each, stops: false }));
const stopping = (said: readonly string[]): Missing[] => said.map((each) => ({ said: each, stops: true }));

/** What the configuration names and is not here, and an inbox that cannot be used here. */
export const missingIn = async (
  ctx: Context,
  profile: string,
  { configured, place }: { readonly configured: Configured; readonly place: Place },
): Promise<Missing[]> => [
  ...missingSecrets(ctx, configured.config),
  ...stopping(await judgedSecrets(ctx, configured.config, profile)),
  ...starting(await missingPrograms(configured)),
  ...(await unusableInbox(ctx, place)),
];

/**
 * Notes and no mistakes: the file may be judged on another machine than the one that runs it. Beside the store the usual
 * variable is one way of two.
 */
function missingSecrets({ env }: Pick<Context, 'env'>, { secrets, accounts }: ServeConfig): Missing[] {
  const unsetOf = (names: readonly string[]) => names.filter((name) => splitSecrets(env[name] ?? '').length === 0);
  if (accounts)
    return accounts.flatMap(({ name, profile, secrets: own }) => {
      const unset = unsetOf(own.env);
      const stops = profile === undefined && unset.length === own.env.length;
      return unset.map((variable) => ({
        said: `${variable} is not set here; secrets.env of the account ${name} names it.`,
        stops,
      }));
    });
  const unset = unsetOf(secrets.env);
  const notes = unset
    .filter((name) => name !== usualSecret || !secrets.store)
    .map((name) => `${name} is not set here; secrets.env names it.`);
  if (secrets.store || unset.length < secrets.env.length) return starting(notes);
  const why = 'Without a secret svc webhooks serve does not start (exit 2): secrets.store is false.';
  return [...starting(notes), ...stopping([why])];
}

/**
 * A note and no mistake: the file may be judged on another machine than the one that runs it. A bare name is looked for in
 * `searched` (the text of PATH), which is known only where svc is about to run: under systemd it may be another one.
 */
export async function missingPrograms({ config, folder }: Configured, searched?: string): Promise<string[]> {
  const notes = config.sinks.map(async ({ name, exec }) => {
    const [program = ''] = exec?.command ?? [];
    if (!(await isMissing(program, { folder, searched }))) return [];
    return [`The program of sink ${name} is not there, or cannot be run: ${program}`];
  });
  return (await Promise.all(notes)).flat();
}

/** An event of 1 KB with its headers and what became of it. */
const bytesPerEvent = 1_600;
/** The file grows to twice what is kept, and is copied then without the oldest. */
const copies = 3;
const manyEvents = 1_000_000;

/** A note where a folder is to keep so much that its disk has to be chosen for it. */
export function roomNeeded({ inbox = '', keep }: Pick<ServeConfig, 'inbox' | 'keep'>): string[] {
  if (isPostgresUrl(inbox) || keep <= manyEvents) return [];
  const gigabytes = Math.round((keep * bytesPerEvent * copies) / 1e9);
  return [
    `keep: ${number(keep)} in a folder takes up to about ${gigabytes} GB of disk with events of 1 KB: its file grows to twice what is kept, and is copied then.`,
  ];
}

const patienceMs = 5_000;

/** A note like the others: the inbox may be reached from where svc is to run, and not from here. Nothing is made in it. */
async function unusableInbox(ctx: Context, place: Place): Promise<Missing[]> {
  const why = await ('folder' in place ? folderProblem(place.folder) : unreachable(ctx, place.url));
  if (why === undefined) return [];
  return 'folder' in place
    ? stopping([`Here svc webhooks serve would not start: the inbox cannot be used. ${why}`])
    : starting([`Here svc webhooks serve would start and take no delivery: the inbox cannot be used. ${why}`]);
}

const folderProblem = async (folder: string): Promise<string | undefined> => {
  const why = await whatIsWrongWith(folder);
  return why && `${folder}: ${why}.`;
};

async function unreachable({ env }: Context, url: string): Promise<string | undefined> {
  const { openHooks } = await import('../store/postgres/postgres-store.ts');
  const ask = async () => {
    const database = await openHooks({ url, env });
    await database.query({ text: 'SELECT 1 AS one' }).finally(() => database.close());
  };
  return inTime({ sleep: (ms, signal) => sleep(ms, undefined, { signal }) }, patienceMs, ask()).then(
    () => undefined,
    (error: unknown) => messageOf(error),
  );
}
