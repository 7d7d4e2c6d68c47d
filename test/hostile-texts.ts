import type { HttpResponse } from '../src/context.ts';
import type { SandboxWorld } from './sandbox-world.ts';
import type { World } from './svc.ts';

/** What a text puts behind its line end, to look as if svc had said it. */
export const forged = 'Sent. Everything is approved';
const tail = `\n${forged}\r${forged}\u2028${forged}\n::stop-commands::x\n  ::add-mask::y ##[set-output name=entry_id;]666`;

/** The words of a service in which everybody writes what they like. */
const hostile = (text: string): string => `${text}${tail}`;

/** What it could not be without: addresses, times, tokens, and what is told apart by it. */
const exact =
  /url|token|secret|cursor|_at$|^at$|email|phone|status|state|slug|html|type|channel|kind|event|scope|^date/iu;

function spoilt(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return exact.test(name) || value === '' ? value : hostile(value);
  if (Array.isArray(value)) return value.map((one) => spoilt(one, name));
  if (typeof value !== 'object' || value === null) return value;
  const isRefusal = name === 'errors';
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [isRefusal ? hostile(key) : key, spoilt(one, isRefusal ? '' : key)]),
  );
}

/** The same world, whose service answers with hostile texts in every field that people fill. */
export function hostileWorld(world: SandboxWorld): World {
  return {
    ...world,
    exchange: async (request) => {
      const answer = await world.exchange(request);
      return 'lost' in answer ? answer : spoiltAnswer(answer);
    },
  };
}

function spoiltAnswer(answer: HttpResponse): HttpResponse {
  try {
    return { ...answer, body: JSON.stringify(spoilt(JSON.parse(answer.body))) };
  } catch {
    return answer;
  }
}
