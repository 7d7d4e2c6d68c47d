import { wrap } from '../../screen/width.ts';
import { sanitize } from '../../text/sanitize.ts';
import { choicesIn } from '../asking.ts';
import type { Model, Over } from '../model.ts';
import type { Pick, Prompt, Question } from '../over.ts';
import { longLines, mostScroll } from './long.ts';
import { blank, hint, type Line, line } from './parts.ts';
import { bodyHeight } from './sizes.ts';

/** What lies over the list: its lines and the keys that answer it. */
export type Shown = {
  readonly lines: readonly Line[];
  readonly keys: Line;
};

export function overLines(model: Model, over: Over): Shown {
  switch (over.is) {
    case 'help':
      return {
        lines: longLines(model, over),
        keys: [...hint('j k', 'scroll'), ...hint('Esc', 'back')],
      };
    case 'question':
      return questionLines(model, over);
    case 'pick':
      return pickLines(model, over);
    case 'prompt':
      return promptLines(model, over);
  }
}

function questionLines(model: Model, over: Question): Shown {
  return {
    lines: longLines(model, over),
    keys: [
      ...over.answers.flatMap(({ key, name }) => hint(key, name)),
      ...hint('Esc', over.otherwise),
      ...(mostScroll(model, over) > 0 ? hint('j k', 'scroll') : []),
    ],
  };
}

function pickLines(model: Model, over: Pick): Shown {
  const choices = choicesIn(over);
  const room = Math.max(1, bodyHeight(model) - 2);
  const from = Math.max(0, over.at - room + 1);
  const lines = choices.slice(from, from + room).map(({ name, about }, index) => {
    const isHere = from + index === over.at;
    return [
      { text: `${isHere ? ' > ' : '   '}${sanitize(name)}`, ...(isHere && { style: 'bold' as const }) },
      { text: about === undefined ? '' : `  ${sanitize(about)}`, style: 'dim' as const },
    ];
  });
  const title = ` ${sanitize(over.title)}: `;
  return {
    lines: [
      [{ text: title, style: 'bold' }, { text: sanitize(over.typed) }],
      ...lines,
      ...(lines.length === 0 ? [line(`   ${noneWords(over)}`, 'dim')] : []),
    ],
    keys: [...hint('↑ ↓', 'choose'), ...taking],
  };
}

const taking: Line = [...hint('Enter', 'take it'), ...hint('Esc', 'back')];

/** Where something is put away a time may be typed as well: whether it is one is judged when it is taken. */
const noneWords = ({ of, typed }: Pick): string =>
  of === 'snooze' && typed.trim() !== '' ? 'Return takes it as a time.' : 'Nothing like that.';

function promptLines(model: Model, { title, text, wrong }: Prompt): Shown {
  const width = Math.max(10, model.size.columns - 3);
  const wrapped = (words: string) => wrap(sanitize(words), width);
  return {
    lines: [
      ...wrapped(`${title}:`).map((one) => line(` ${one}`, 'bold')),
      ...wrapped(`${text}▏`).map((one, at): Line => [{ text: at === 0 ? ' > ' : '   ', style: 'bold' }, { text: one }]),
      ...(wrong === undefined ? [] : [blank, ...wrapped(wrong).map((one) => line(` ${one}`, 'red'))]),
    ],
    keys: taking,
  };
}
