import type { Schema } from '../api/operation.ts';
import { fieldsOf, type Shape } from '../api/shape.ts';
import { Failure } from '../errors.ts';
import type { Fields } from '../text/record.ts';
import type { Param } from './command.ts';
import { typedName } from './typed-name.ts';

/** `--clear due_at`: null, or an empty list. Undefined where the body has nothing of the kind. */
export function clearFlag(schema: Schema | undefined): Param<readonly string[]> | undefined {
  const clearable = Object.entries(fieldsOf(schema)).filter(([, { nullable, type }]) => nullable || type === 'list');
  const names = clearable.map(([field]) => field);
  if (names.length === 0) return undefined;
  return {
    description: `Empty a field: ${names.join(', ')}`,
    placeholder: 'FIELD',
    choices: names,
    many: true,
    parse: (texts, flag) =>
      texts.map((text) => {
        const field = names.find((name) => name === text || typedName(name) === text);
        if (field) return field;
        throw new Failure('usage', `${flag} takes ${names.join(', ')}, not "${text}".`);
      }),
  };
}

/** Of an update for which nothing was given. */
export function noChange(schema: Schema | undefined): Failure {
  const names = Object.keys(fieldsOf(schema)).map((field) => `--${typedName(field)}`);
  return new Failure('usage', 'No change was given.', { hint: `Give at least one of ${names.join(', ')}.` });
}

/** The body with the cleared fields added. A field both given and cleared contradicts itself. */
export function cleared(
  body: Fields,
  clear: readonly string[] = [],
  fields: Readonly<Record<string, Shape>>,
): Record<string, unknown> {
  const whole = { ...body };
  for (const field of clear) {
    if (field in body)
      throw new Failure('usage', `--${typedName(field)} and --clear ${field} cannot be used together.`);
    whole[field] = fields[field]?.type === 'list' ? [] : null;
  }
  return whole;
}
