import { Failure, interruption } from '../errors.ts';
import { toJson } from '../text/sanitize.ts';
import { askJq, type End } from './jq-thread.ts';

/** Refuses a filter that does not compile, before anything is sent: on no input at all it is compiled and never run. */
export async function checkFilter(filter: string, signal: AbortSignal): Promise<void> {
  await run('', filter, 'usage', signal);
}

/** The results of a filter over one JSON value, one by one. A function as `end` has to give the same one each time. */
export async function filtered(value: unknown, filter: string, end: RunEnd): Promise<unknown[]> {
  const lines = await run(wellFormed(JSON.stringify(value) ?? 'null'), filter, 'failed', end);
  return lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line));
}

/** As gh prints them: text raw, null as an empty line, anything deeper as JSON. */
export function resultLine(result: unknown, indent: number | undefined): string {
  if (typeof result === 'string') return result;
  return result === null ? '' : toJson(result, indent);
}

/** jq refuses half a surrogate pair, which a service may send; JSON.stringify writes only those as escapes. */
const wellFormed = (json: string): string =>
  json.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/gu, (written, half) => (half ? '\\ufffd' : written));

type RunEnd = Exclude<End, undefined>;

async function run(json: string, filter: string, kind: 'usage' | 'failed', end: RunEnd): Promise<string> {
  // The space: a filter may begin with a minus, which would be read as an option.
  const program = filter.trim() === '' ? '.' : ` ${filter}`;
  const answer = await askJq({ json, program }, end);
  if (answer === undefined)
    throw interruption(typeof end === 'function' ? end() : end, `Interrupted while the filter ${filter} ran.`);
  if ('text' in answer) return answer.text;
  const verdict = kind === 'usage' ? 'is not valid jq' : 'failed';
  throw new Failure(kind, `The filter ${filter} ${verdict}: ${sentence(answer.said)}.`, {
    hint: kind === 'usage' ? 'The language: https://jqlang.org/manual/' : 'Look at the data with --json.',
  });
}

/** The first line that jq said, without its own name and place. */
function sentence(said: string): string {
  const lines = said.split('\n');
  const line = lines.find((text) => text.startsWith('jq: error')) ?? lines[0] ?? '';
  return line
    .replace(/^jq: error(?: \(at [^)]*\))?: /u, '')
    .replace(/ at <[^<>]*>.*$/su, '')
    .replace(/ \(Unix shell quoting issues\?\)|[.:]$/gu, '');
}
