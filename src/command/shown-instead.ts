import { hearersOf } from '../api/hearers.ts';
import type { Context, Shown } from '../context.ts';
import { operationAt } from '../http/exchange/raw.ts';
import { isShownOnly, previewing } from '../http/send/preview.ts';
import { notesIn, type View } from '../output/view.ts';
import { fieldsIn } from '../text/record.ts';
import { sanitize } from '../text/sanitize.ts';
import type { Command, Given } from './command.ts';

/** Runs the command up to what it would send, and shows that. What only reads shows what it read. */
export async function shownInstead(outer: Context, given: Given, run: Command['run']): Promise<View> {
  const { ctx, preview } = previewing(outer);
  let view: View | undefined;
  try {
    // Nothing is done, so nothing needs a yes.
    view = await run(ctx, { ...given, settings: { ...given.settings, yes: true } });
    if (preview.requests.length === 0 && view.read) return view;
  } catch (error) {
    if (!isShownOnly(ctx, error)) throw error;
  }
  const { requests } = preview;
  const isDraft = requests.some(reachesSomebody) && (await ctx.sends?.mode()) === 'draft';
  const text = () => requests.map(inWords).join('\n');
  return {
    data: { shape: 'list', records: requests, columns: ['method', 'path', 'body'] },
    human: text,
    plain: text,
    // Where a record needs nothing, or is not there, that is said beside the requests of the others.
    notes: toldOnce([...notesIn(view ?? {}), isDraft ? wouldBeDraft : unsent]),
    failure: view?.failure,
  };
}

const unsent = 'Nothing was sent.';
const wouldBeDraft = `It would become a draft that a person approves. ${unsent}`;

/** That nothing was sent is the end of every dry run, whatever ended with it before. */
const toldOnce = (notes: readonly string[]): string[] =>
  [
    ...new Set(
      notes.flatMap((note, at) =>
        at < notes.length - 1 && note.endsWith(unsent) ? note.slice(0, -unsent.length).trim() : note,
      ),
    ),
  ].filter((note) => note !== '');

/** A customer, or the public: of an entry that is or becomes published. */
function reachesSomebody({ method, path, body }: Shown): boolean {
  const { operation } = operationAt(method, path) ?? {};
  const hearers = operation && hearersOf(operation);
  return hearers === 'customer' || (hearers === 'public' && fieldsIn(body).status === 'published');
}

const inWords = ({ method, path, body }: Shown): string => {
  const shown = typeof body === 'string' ? body : JSON.stringify(body, undefined, 2);
  return `${sanitize(`${method} ${path}`)}\n${body === null ? '' : `${sanitize(shown, { keepNewlines: true })}\n`}`;
};
