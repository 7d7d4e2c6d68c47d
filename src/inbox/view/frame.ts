import { isWide, type Model } from '../model.ts';
import { firstLine, keyLine } from './around.ts';
import { jobLines } from './job.ts';
import { listLines } from './list.ts';
import { overLines } from './over.ts';
import { blank, cutLine, type Line, type Look, padLine, painted } from './parts.ts';
import { between, bodyHeight, listWidth, threadWidth } from './sizes.ts';
import { threadLines } from './thread.ts';

/** The whole screen: exactly as many lines as it has, none wider. Only what is on it is laid out. */
export function frameOf(model: Model, look: Look): readonly string[] {
  const { columns, rows } = model.size;
  const over = model.over && overLines(model, model.over);
  const body = over ? over.lines.map((parts) => painted(cutLine(parts, columns), look)) : bodyOf(model, look);
  const height = bodyHeight(model);
  const filled = [...body.slice(0, height), ...Array.from({ length: Math.max(0, height - body.length) }, () => '')];
  const foot = [...jobLines(model), over?.keys ?? keyLine(model)].map((parts) =>
    painted(cutLine(parts, columns), look),
  );
  return [painted(cutLine(firstLine(model), columns), look), ...filled, ...foot].slice(-rows);
}

function bodyOf(model: Model, look: Look): string[] {
  if (isWide(model)) return sideBySide(model, look);
  return model.focus === 'thread' ? threadPart(model).map((parts) => painted(parts, look)) : listPart(model, look);
}

const threadPart = (model: Model): Line[] =>
  threadLines(model)
    .slice(model.scroll, model.scroll + bodyHeight(model))
    .map((parts) => cutLine(parts, threadWidth(model)));

const listPart = (model: Model, look: Look): string[] =>
  listLines(model).map(({ parts, isSelected }) => {
    const text = padLine(parts, listWidth(model));
    const isHere = isSelected && model.focus === 'list';
    return isHere ? look.selected(text.map((part) => part.text).join('')) : painted(text, look);
  });

function sideBySide(model: Model, look: Look): string[] {
  const [left, right] = [listPart(model, look), threadPart(model)];
  const empty = ' '.repeat(listWidth(model));
  const rule = look.paint(model.focus === 'thread' ? 'cyan' : 'dim', between);
  return Array.from({ length: bodyHeight(model) }, (_, at) => {
    return `${left[at] ?? empty}${rule}${painted(right[at] ?? blank, look)}`;
  });
}
