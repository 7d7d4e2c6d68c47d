import type { Context } from '../../context.ts';
import { Failure, messageOf } from '../../errors.ts';
import { counted } from '../../text/number.ts';
import { readInTime, readingAgain } from '../receive/later-secrets.ts';
import type { Configured } from './config.ts';
import { missingPrograms } from './missing-programs.ts';
import type { ServeOptions } from './options.ts';
import type { Sinks } from './sinks.ts';

/** Changed by a reload. */
export type Current = { secrets: readonly string[]; configured: Configured };

type Running = { readonly current: Current; readonly sinks: Pick<Sinks, 'change'> };

type Ports = Pick<Context, 'clock' | 'env' | 'notice' | 'onHangup'>;
type Options = Pick<ServeOptions, 'read' | 'secretsOf' | 'placeOf'>;

/** Adds what was stored since. Only a reload forgets secrets: a forged delivery must not make a good one unknown. */
export function laterSecrets(ctx: Context, current: Current, { storedSecrets }: ServeOptions) {
  const again = readingAgain(ctx, async () => {
    const { configured } = current;
    const found = await storedSecrets();
    if (current.configured === configured) current.secrets = [...new Set([...current.secrets, ...found])];
  });
  return async (): Promise<boolean> => !current.configured.config.secrets.store || (await again());
}

/** Reads the configuration again when it is told to. A bad one, or one that takes 8 s, is refused, and the old one stays. */
export function reloading(ctx: Ports, options: Options, { current, sinks }: Running): () => void {
  let last: Promise<void> = Promise.resolve();
  const reload = async () => {
    try {
      const next = await readInTime(ctx.clock, options.read());
      const secrets = await readInTime(ctx.clock, options.secretsOf(next));
      for (const name of needRestart(current.configured, next, options)) {
        ctx.notice(`${name} changes only with a restart. Until then the old value stays.`);
      }
      const { host, port } = current.configured.config.listen;
      const { admin, inbox, keep } = current.configured.config;
      const listen = { ...next.config.listen, host, port };
      current.secrets = secrets;
      current.configured = { ...next, config: { ...next.config, listen, admin, inbox, keep } };
      await sinks.change(next);
      ctx.notice(`The configuration was read again: ${counted(next.config.sinks.length, 'sink')}.`);
      await warnOfPrograms(ctx, next);
    } catch (error) {
      const details = error instanceof Failure ? Object.entries(error.fields ?? {}) : [];
      const lines = details.flatMap(([line, texts]) => texts.map((text) => ` ${line}: ${text}`));
      ctx.notice(`The configuration was refused, and the old one stays. ${messageOf(error)}${lines.join('')}`);
    }
  };
  return (
    ctx.onHangup?.(() => {
      last = last.then(reload);
    }) ?? (() => {})
  );
}

/** Its sink fails, and is tried again, until the program is there. */
export async function warnOfPrograms(ctx: Pick<Context, 'env' | 'notice'>, configured: Configured): Promise<void> {
  for (const missing of await missingPrograms(configured, ctx.env.PATH)) ctx.notice(`Warning: ${missing}`);
}

function needRestart(before: Configured, after: Configured, { placeOf }: Options): string[] {
  const differs = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const [old, fresh] = [before.config, after.config];
  return [
    differs(old.listen.host, fresh.listen.host) && 'listen.host',
    differs(old.listen.port, fresh.listen.port) && 'listen.port',
    differs(old.admin, fresh.admin) && 'admin',
    differs(placeOf(before), placeOf(after)) && 'inbox',
    differs(old.keep, fresh.keep) && 'keep',
  ].filter((name) => name !== false);
}
