import held from './examples.json' with { type: 'json' };

/** Answers by status; several of one status by name. */
type Held = {
  readonly request?: unknown;
  readonly answers?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/**
 * What the sandbox answers to each operation, and what `svc webhooks trigger` sends of each event. The file is made by test/derive/examples.test.ts, so that nothing has to be
 * run where the description is printed.
 */
const examples: Readonly<Record<string, Held>> = held;

/** As a media type of OpenAPI holds them. */
export type Examples = {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
};

export function requestExample(id: string): Examples {
  const request = examples[id]?.request;
  return request === undefined ? {} : { example: request };
}

export function answerExample(id: string, status: number | string): Examples {
  const named = Object.entries(examples[id]?.answers?.[status] ?? {});
  const [only, ...others] = named;
  if (!only) return {};
  if (others.length === 0) return { example: only[1] };
  return { examples: Object.fromEntries(named.map(([name, value]) => [name, { value }])) };
}

/** Errors that are the same for all operations. */
export const sharedExample = (status: string): Examples => answerExample('shared', status);
