import { type Given, operationOf, type Params } from '../command/command.ts';
import { takesDryRun } from '../command/dry-run.ts';
import type { FindInCopy } from '../command/ids.ts';
import { hasName, isNamed } from '../command/named.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { Failure } from '../errors.ts';
import type { Copy } from '../mirror/store/open-copy.ts';
import { nearest } from '../text/near.ts';
import { isMoving } from '../text/time.ts';
import type { Invocation, Slot } from './invocation.ts';
import { labelOf, refuseMissing, withMissing } from './missing.ts';

/**
 * What the command is run with. On a terminal whatever is missing is asked for; elsewhere exit 2 names all of it at
 * once. Names that people have, such as T-1008, become ids last: nothing is sent before the rest is right.
 */
export async function given(
  ctx: Context,
  invocation: Invocation,
  settings: Settings,
): Promise<Omit<Given, 'settings'>> {
  const slots = slotsOf(invocation);
  if (slots.some(({ param, texts }) => texts.length > 0 && (param.isWritten || param.completes === 'files')))
    await (await import('./named-files.ts')).refuseFiles(ctx, slots, invocation.command);
  await refuseUnreadTexts(slots, invocation);
  // What a row of the file may give is not asked for.
  const { row } = invocation.command;
  const isFromFile = row !== undefined && (invocation.flagTexts.from ?? []).length > 0;
  // An email or a number would be looked up first.
  if (isFromFile) (await import('../bulk/report/command-line.ts')).refuseIds(row, invocation.argTexts.id);
  const missing = isFromFile ? [] : slots.filter((slot) => isMissing(slot, slots));
  // To learn whether somebody can be asked, standard input is opened: milliseconds of every start.
  const canAsk = missing.length > 0 && ctx.ask.canAsk && !settings.noInput;
  if (!canAsk) await refuseMissing(missing, invocation);
  else await refuseWithoutCredential(ctx, settings, invocation);
  const values: { args: Record<string, unknown>; flags: Record<string, unknown> } = { args: {}, flags: {} };
  const named: Slot[] = [];
  const names: Record<string, string> = {};
  for (const { param, texts, label } of isFromFile ? [] : slots)
    if (param.needs === 'from' && texts.length > 0) throw new Failure('usage', `${label} needs --from FILE.`);
  for (const slot of slots) {
    if (isFromFile && slot.param.moment) refuseMovingTime(slot);
    if (slot.texts.some((text) => hasName(slot.param.record, text))) named.push(slot);
    else
      try {
        values[slot.of][slot.key] = isNamed(slot.param.record) ? await readId(slot, ctx) : read(slot, ctx);
      } catch (error) {
        throw canAsk ? error : withMissing(error, missing);
      }
  }
  for (const slot of named) {
    values[slot.of][slot.key] = read(await withIds(ctx, settings, slot), ctx);
    const [name, ...others] = slot.texts;
    if (slot.of === 'args' && name !== undefined && others.length === 0) names[slot.key] = name.trim();
  }
  if (!canAsk) return { ...values, names };
  const { asked } = await import('./asking.ts');
  for (const slot of missing.filter(({ param }) => !param.written)) {
    values[slot.of][slot.key] = await asked(ctx, settings, slot, async (texts) => {
      const answered = { ...slot, texts };
      const hasNames = texts.some((text) => hasName(slot.param.record, text));
      return read(hasNames ? await withIds(ctx, settings, answered) : answered, ctx);
    });
  }
  return { ...values, names };
}

/** The header of a file may really hold U+FFFD. */
const namesColumns: ReadonlySet<string> = new Set(['map', 'map_value', 'skip', 'only']);

/** A customer would read `-` and `@FILE`, which elsewhere name what is read, and U+FFFD, which Node puts for bytes that are no UTF-8. */
async function refuseUnreadTexts(slots: readonly Slot[], { command }: Invocation): Promise<void> {
  // As every command takes that writes.
  const isWrite = takesDryRun(command);
  for (const { key, param, texts, label } of slots) {
    const text = texts.at(-1) ?? '';
    const isText = param.completes !== 'files' && !namesColumns.has(key);
    const isMisread = (isWrite || param.prose) && isText && texts.join('').includes('\uFFFD');
    if (!isMisread && (!param.prose || !/^(?:-$|@)/u.test(text))) continue;
    const isTwinned = command.flags.bodyFile !== undefined && key === (command.row?.text ?? 'body');
    const reader = isTwinned ? '--body-file' : undefined;
    const { refuseMisread, refuseNoText } = await import('./no-text.ts');
    if (isMisread) refuseMisread(label, reader);
    await refuseNoText(text, label, reader);
  }
}

/** Of a repeated run `in 2h` would make other rows, which would be sent once more. */
function refuseMovingTime({ texts, label }: Slot): void {
  const moving = texts.find(isMoving);
  if (moving === undefined) return;
  throw new Failure('usage', `${label} "${moving}" means another time whenever the file is sent again.`, {
    hint: 'With --from give the time itself, like 2026-01-31 or 2026-01-31T09:00:00Z.',
  });
}

/** Nobody is asked for what a command then cannot use. */
async function refuseWithoutCredential(ctx: Context, settings: Settings, { command }: Invocation): Promise<void> {
  const operation = operationOf(command);
  if (!operation) return;
  const { choose, credentialsAtHand, missing, notLoggedIn, refuseTwoSources } = await import('../auth/at-hand.ts');
  await refuseTwoSources(ctx, settings);
  const atHand = await credentialsAtHand(ctx, settings);
  if (atHand.length === 0) throw await notLoggedIn(ctx, settings);
  if (!choose(atHand, operation)) throw missing(operation, atHand, settings);
}

function slotsOf({ command, argTexts, flagTexts }: Invocation): Slot[] {
  const slots = (of: Slot['of'], params: Params, texts: Invocation['argTexts']) =>
    Object.entries(params).map(([key, param]) => {
      return { of, key, label: labelOf(of, key, param), param, texts: texts[key] ?? [], flagTexts };
    });
  return [...slots('args', command.args, argTexts), ...slots('flags', command.flags, flagTexts)];
}

function isMissing({ param, texts }: Slot, slots: readonly Slot[]): boolean {
  if (!param.required || texts.length > 0) return false;
  const isGiven = (key: string) => slots.some((other) => other.key === key && other.texts.length > 0);
  return !(param.unless ?? []).some(isGiven);
}

function read({ param, texts, label }: Slot, { notice, clock, env }: Context): unknown {
  if (texts.length === 0) return param.fallback;
  const value = parsed({ param, texts, label }, clock.now());
  const doubt = param.doubt?.(texts, label, env);
  if (doubt !== undefined) notice(doubt);
  return value;
}

/** Of a word that is none of the choices the one that is probably meant is named first. */
function parsed({ param, texts, label }: Pick<Slot, 'param' | 'texts' | 'label'>, now: Date): unknown {
  try {
    return param.parse(texts, label, now);
  } catch (error) {
    const { choices } = param;
    const strange = choices && texts.find((text) => !choices.includes(text));
    const meant = strange === undefined ? undefined : nearest(strange, choices ?? []);
    if (meant === undefined || !(error instanceof Failure) || error.hint?.includes('Did you mean')) throw error;
    const hint = `Did you mean ${meant}?${error.hint === undefined ? '' : `\n${error.hint}`}`;
    throw new Failure(error.kind, error.message, { hint, cause: error });
  }
}

/** What people paste in the place of an id is told with what is meant. */
async function readId(slot: Slot, ctx: Context): Promise<unknown> {
  const { param, texts } = slot;
  const pasted = () => import('../command/pasted.ts');
  if (param.record === 'contacts' && texts.some((text) => /^\s*\+/u.test(text))) (await pasted()).refusePhone(texts);
  try {
    return read(slot, ctx);
  } catch (error) {
    throw (await pasted()).withMeant(error, param.record ?? '', texts);
  }
}

async function withIds(ctx: Context, settings: Settings, slot: Slot): Promise<Slot> {
  const [{ idOf }, { connect }] = [await import('../command/ids.ts'), await import('../http/call/call.ts')];
  const { record } = slot.param;
  if (!isNamed(record)) return slot;
  const service = await connect(ctx, settings);
  const texts: string[] = [];
  for (const text of slot.texts) {
    const id = hasName(record, text) ? idOf(service, record, text, inCopy) : Promise.resolve(text);
    texts.push(String(await id.catch(ofSeveral(slot.texts.length))));
  }
  return { ...slot, texts };
}

/** A name that nobody has ends the command before the first of them is dealt with. */
const ofSeveral =
  (count: number) =>
  (error: unknown): never => {
    if (count < 2 || !(error instanceof Failure) || error.kind !== 'not-found') throw error;
    const { hint } = error;
    throw new Failure('not-found', `${error.message} Nothing was done for any of the ${count}.`, { hint });
  };

const inCopy: FindInCopy = async ({ ctx, settings }, text) => {
  const { findContacts, fromContactsCopy } = await import('../mirror/query/find.ts');
  const inStore = ({ store, account }: Copy) => findContacts(store, account, text);
  let from = '';
  const tell = (words: string) => {
    from = words;
  };
  const found = await fromContactsCopy(ctx, settings, inStore, { said: 'from the local copy', tell });
  return found && { contacts: found.contacts, from };
};
