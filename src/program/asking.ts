import { idWords, type ResourceName, resources } from '../api/resources.ts';
import type { Settings } from '../config/settings.ts';
import type { Choice, Context } from '../context.ts';
import { Failure } from '../errors.ts';
import { listerOf } from '../http/exchange/record.ts';
import { capital } from '../text/capital.ts';
import type { Fields } from '../text/record.ts';
import { shellWord } from '../text/shell-word.ts';
import type { Slot } from './invocation.ts';

/** Asks for what is missing until it can be used. A mistake at a question is told, and the question comes again. */
export async function asked(
  ctx: Context,
  settings: Settings,
  slot: Slot,
  read: (texts: readonly string[]) => Promise<unknown>,
): Promise<unknown> {
  const ask = await askerOf(ctx, settings, slot);
  for (;;) {
    const answer = (await ask()).trim();
    if (answer === '') {
      ctx.notice(`${slot.label} is required.`);
      continue;
    }
    try {
      return await read([answer]);
    } catch (error) {
      const canTryAgain = error instanceof Failure && (error.kind === 'usage' || error.kind === 'not-found');
      if (!canTryAgain) throw error;
      ctx.notice(error.message);
    }
  }
}

/** What is chosen, with nothing typed, to type a value that the list does not show. */
const another = '';

/** The question, with what there is to choose from read once. */
async function askerOf(
  ctx: Context,
  settings: Settings,
  { label, param, flagTexts }: Slot,
): Promise<() => Promise<string>> {
  const question = questionOf(label, param);
  const choices = param.from
    ? await param.from.choices(ctx, settings, flagTexts)
    : await choicesFor(ctx, settings, param);
  if (choices.length === 0 && param.from)
    throw new Failure('usage', 'There is nothing to choose from.', {
      hint: `The list is empty: svc ${param.from.command}`,
    });
  if (choices.length === 0) return () => ctx.ask.text(question);
  let isTyped = false;
  return async () => {
    // Whoever wants another one is not led back to the list, where Return takes its first.
    const chosen = isTyped ? another : await ctx.ask.choose(question, choices);
    isTyped ||= chosen === another;
    return chosen === another ? ctx.ask.text(question) : chosen;
  };
}

/** Help tells a flag's name beside its text; a question has to tell what it is about itself. */
function questionOf(label: string, { asks, description: about, choices }: Slot['param']): string {
  const description = asks ?? about;
  const noun = label.replace(/^--/u, '').replaceAll('-', ' ').toLowerCase();
  const name = capital(noun);
  // The list shows what there is.
  if (choices) return `${name} (${label})`;
  const tells = !label.startsWith('--') || noun.split(' ').some((word) => description.toLowerCase().includes(word));
  return `${tells ? description : `${name}: ${description}`} (${label})`;
}

async function choicesFor(ctx: Context, settings: Settings, param: Slot['param']): Promise<readonly Choice[]> {
  if (param.choices) return param.choices.map((value) => ({ value }));
  if (param.completes === 'logins') {
    const { heldByProfile } = await import('../auth/credentials.ts');
    return [...(await heldByProfile(ctx.tokens)).keys()].sort().map((value) => ({ value }));
  }
  if (param.completes === 'aliases') {
    const { readConfig } = await import('../config/config-file.ts');
    return Object.keys((await readConfig(ctx.files)).aliases ?? {}).map((value) => ({ value }));
  }
  return param.record === undefined ? [] : recordChoices(ctx, settings, param.record, param.needless);
}

/** The command that lists what the argument may be, behind `svc`; undefined where there is none. */
export function listing({ param, flagTexts }: Pick<Slot, 'param' | 'flagTexts'>): string | undefined {
  if (param.record !== undefined) return listerOf(param.record)?.command.join(' ');
  const [config] = flagTexts.config ?? [];
  if (param.from === undefined || config === undefined) return param.from?.command;
  return `${param.from.command} --config ${shellWord(config)}`;
}

/** One page is enough to choose from; whatever else there is can be typed. */
const shownAtMost = 100;

async function recordChoices(
  ctx: Context,
  settings: Settings,
  resource: ResourceName,
  needless: Slot['param']['needless'] = () => false,
): Promise<Choice[]> {
  const operation = listerOf(resource);
  const { idField, noun } = resources[resource];
  if (!operation || !idField) return [];
  const [{ connect }, { list }] = [await import('../http/call/call.ts'), await import('../http/call/pages.ts')];
  const service = await connect(ctx, settings);
  ctx.progress('Reading what there is to choose from');
  try {
    const listing = list(service, operation, {}, { limit: shownAtMost });
    const choices: Choice[] = [];
    for await (const record of listing.records) {
      if (!needless(record)) choices.push({ value: String(record[idField]), name: nameOf(record, idField) });
    }
    const { total } = listing.seen();
    if (choices.length === 0 || (total !== undefined && total <= choices.length)) return choices;
    return [...choices, { value: another, name: `Another ${noun}: type its ${idWords(resource)}` }];
  } catch (error) {
    // A credential that may not list them may still act on one.
    if (error instanceof Failure && error.kind === 'forbidden') return [];
    throw error;
  } finally {
    ctx.progress(undefined);
  }
}

/** How people tell records apart, the most telling field first. */
const telling = [
  'ticket_number',
  'title',
  'subject',
  'name',
  'last_name',
  'email',
  'event_type',
  'target_url',
  'status',
];

function nameOf(record: Fields, idField: string): string {
  const parts = telling.flatMap((field) => (typeof record[field] === 'string' && record[field] ? [record[field]] : []));
  return [String(record[idField]), ...parts].join('  ');
}
