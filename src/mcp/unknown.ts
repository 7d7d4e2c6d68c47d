import type { JsonSchema } from '../derive/json-schema.ts';

/** Fields inside of a value that its schema does not have, each by its dotted path. Own data may have any key. */
export const unknownIn = (schema: JsonSchema, value: unknown): Record<string, string[]> =>
  Object.fromEntries(found(schema, value, ''));

type Unknown = readonly [path: string, problems: string[]];

function found(schema: JsonSchema | boolean | undefined, value: unknown, path: string): Unknown[] {
  if (typeof schema !== 'object' || typeof value !== 'object' || value === null) return [];
  const below = (key: string) => (path ? `${path}.${key}` : key);
  if (Array.isArray(value)) {
    const { items } = schemaFor(schema, 'items');
    const item = Array.isArray(items) ? undefined : items;
    return value.flatMap((one, at) => found(item, one, below(String(at))));
  }
  const { properties = {}, additionalProperties } = schemaFor(schema, 'properties');
  return Object.entries(value).flatMap(([key, held]): Unknown[] => {
    if (Object.hasOwn(properties, key)) return found(properties[key], held, below(key));
    if (additionalProperties !== false) return [];
    return [[below(key), [`is not a field; there are ${Object.keys(properties).join(', ')}`]]];
  });
}

/** Where there is a choice, such as null or an object: the one that describes what is inside. */
const schemaFor = (schema: JsonSchema, what: 'items' | 'properties'): JsonSchema =>
  [schema, ...(schema.anyOf ?? [])].find((one): one is JsonSchema => typeof one === 'object' && what in one) ?? {};
