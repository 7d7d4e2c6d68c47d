import type { BaseIssue } from 'valibot';
import type { Policy, Quiet } from './policy-schema.ts';

const rules: Readonly<Record<keyof Policy['sends'], true>> = {
  ...{ mode: true, max_per_hour: true, quiet: true, allow: true, deny: true },
};
const ofQuiet: Readonly<Record<keyof Quiet, true>> = { from: true, to: true, zone: true, days: true };

/** By where it stands. */
const known: Readonly<Record<string, readonly string[]>> = {
  '': ['sends'],
  sends: Object.keys(rules),
  'sends.quiet': Object.keys(ofQuiet),
};

const nouns: Readonly<Record<string, string>> = {
  ...{
    number: 'a number',
    string: 'a text',
    array: 'a list',
    object: 'keys with values',
    strict_object: 'keys with values',
  },
};

/** What is wrong in a policy, for whoever wrote it: `sends.max_per_hr is not known here; known are mode, …`. */
export function issueInWords({ path, type, kind, expected, received, message }: BaseIssue<unknown>): string {
  const keys = path?.map(({ key }) => String(key)) ?? [];
  const name = keys.length === 0 ? 'the file' : keys.join('.');
  const here = known[keys.slice(0, -1).join('.')];
  if (type === 'strict_object' && expected === 'never' && here)
    return `${name} is not known here; known ${here.length === 1 ? 'is' : 'are'} ${here.join(', ')}`;
  if (received === 'undefined') return `${name} is not there`;
  const noun = kind === 'schema' && message.startsWith('Invalid ') ? nouns[type] : undefined;
  // The text may be anything, also a secret that stands in the wrong place.
  const is = received?.startsWith('"') ? 'a text' : received;
  return noun === undefined ? `${name}: ${message}` : `${name} must be ${noun}, and is ${is}`;
}
