import { pad, wrap } from '../../screen/width.ts';
import { sanitize } from '../../text/sanitize.ts';
import { keys } from '../keys.ts';
import type { Model, Over } from '../model.ts';
import type { Question } from '../over.ts';
import { blank, type Line, line } from './parts.ts';
import { bodyHeight } from './sizes.ts';

type Help = Extract<Over, { readonly is: 'help' }>;

/** What may be longer than the screen: its lines, and what always stands below them. */
type Long = { readonly text: readonly Line[]; readonly below: readonly Line[] };

const longOf = (model: Model, over: Help | Question): Long =>
  over.is === 'help' ? { text: helpText(model), below: [] } : questionText(model, over);

function helpText(model: Model): Line[] {
  const groups = [...new Set(keys.map(({ group }) => group))];
  const width = Math.max(20, model.size.columns - 14);
  return groups.flatMap((group) => [
    line(` ${group}`, 'bold'),
    ...keys
      .filter((entry) => entry.group === group)
      .flatMap(({ shown, about }) => {
        const [first = '', ...more] = wrap(about, width);
        return [
          [{ text: `   ${pad(shown, 8)} `, style: 'cyan' as const }, { text: first }],
          ...more.map((text) => line(`${' '.repeat(12)}${text}`)),
        ];
      }),
    blank,
  ]);
}

function questionText(model: Model, { title, shown }: Question): Long {
  const width = Math.max(10, Math.min(100, model.size.columns - 2));
  const text = wrap(sanitize(shown, { keepNewlines: true }), width).map((one) => line(` ${one}`));
  return { text, below: [blank, ...wrap(sanitize(title), width).map((one) => line(` ${one}`, 'bold'))] };
}

const roomFor = (model: Model, { below }: Long): number => Math.max(1, bodyHeight(model) - below.length);

/** Further down there is nothing to be seen. */
export function mostScroll(model: Model, over: Help | Question): number {
  const long = longOf(model, over);
  return Math.max(0, long.text.length - roomFor(model, long));
}

/** The lines that are seen. */
export function longLines(model: Model, over: Help | Question): readonly Line[] {
  const long = longOf(model, over);
  const from = Math.min(over.scroll, mostScroll(model, over));
  return [...long.text.slice(from, from + roomFor(model, long)), ...long.below];
}
