import type { Listed } from '../../command/command.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { Failure } from '../../errors.ts';
import { localTime } from '../../output/cells.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import { mayMean, meantBy } from '../../webhooks/event/account.ts';
import { envelopeIn } from '../../webhooks/event/envelope.ts';
import { mainFields } from '../../webhooks/event/main-fields.ts';
import { type Chosen, choose, openConfigured } from '../../webhooks/serve/configured.ts';
import { type Damaged, damagedText } from '../../webhooks/store/folder/file.ts';
import type { Received } from '../../webhooks/store/folder/inbox.ts';
import { slotsFolder } from '../../webhooks/store/folder/slot.ts';
import { received, type Seen, type View } from '../../webhooks/store/folder/view.ts';

/** Of `listen`, or of the configuration of `serve`. */
export async function look<T>(
  ctx: Context,
  settings: Settings,
  config: string | undefined,
  view: View<T>,
): Promise<readonly Seen<T>[]> {
  const onDamage = (damaged: Damaged) => ctx.notice(damagedText(damaged));
  if (config === undefined) return received(rootOf(ctx, settings), view, onDamage);
  const { admin } = await openConfigured(ctx, settings, config);
  try {
    return await admin.received(view, onDamage);
  } finally {
    await admin.close();
  }
}

/** Says which inbox it is, for there may be several. */
export async function chosen(ctx: Context, given: string | undefined): Promise<Chosen> {
  const { config, about } = await choose(ctx, given);
  if (config !== undefined) return { config, about };
  return { config, about: ['This is the inbox of svc webhooks listen. For that of serve: --config FILE'] };
}

export const rootOf = (ctx: Context, settings: Settings): string => slotsFolder(ctx.files.state, settings.profile);

/** So many are enough to choose from; the id of another can be typed. */
const mostChoices = 100;

/** The newest first, to choose from. */
export const receivedEvents: Listed['choices'] = async (ctx, settings, flags) => {
  const { config } = await chosen(ctx, flags.config?.[0]);
  const seen = await look(ctx, settings, config, ({ id, event, at, body }) => {
    const summary = sanitize(mainFields(event, envelopeIn(body)?.data ?? null).slice(0, 200));
    return { value: id, name: [localTime(at), event ?? '-', sanitize(id), summary].join('  ') };
  });
  return [...seen]
    .reverse()
    .slice(0, mostChoices)
    .map(({ value }) => value);
};

/** In the order asked for. */
export async function lookUp(
  ctx: Context,
  settings: Settings,
  config: string | undefined,
  wanted: readonly string[],
): Promise<Received[]> {
  const found = await look(ctx, settings, config, (arrival) =>
    wanted.some((id) => mayMean(id, arrival)) ? arrival : undefined,
  );
  return wanted.map((id) => theOne(found, id, config));
}

export const lookUpOne = async (
  ctx: Context,
  settings: Settings,
  config: string | undefined,
  id: string,
): Promise<Received> =>
  theOne(await look(ctx, settings, config, (arrival) => (mayMean(id, arrival) ? arrival : undefined)), id, config);

/** The beginning of an id is enough where only one begins so. */
function theOne(found: readonly Seen<Received['arrival']>[], id: string, config: string | undefined): Received {
  const meant = meantBy(
    id,
    found.map(({ value }) => value),
  );
  const [one, another] = found.filter(({ value }) => meant.includes(value));
  if (another) {
    const some = meant.slice(0, 5).map((each) => sanitize(each.id.slice(0, 80)));
    throw new Failure('usage', `${meant.length} ids begin with ${id}.`, {
      hint: `Type more of it: ${some.join(', ')}`,
    });
  }
  if (one) return { arrival: one.value, outcomes: one.outcomes };
  throw new Failure('not-found', `${id} is not in the inbox.`, {
    hint: `Run: svc webhooks inbox list${config === undefined ? '' : ` --config ${shellWord(config)}`}`,
  });
}
