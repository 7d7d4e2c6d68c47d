import loading from 'jq-web';
import { Failure } from '../errors.ts';
import { toJson } from './sanitize.ts';

/** Refuses a filter that does not compile, before anything is sent: on no input at all it is compiled and never run. */
export async function checkFilter(filter: string): Promise<void> {
  await run('', filter, 'usage');
}

/** The results of a filter over one JSON value, one by one. */
export async function filtered(value: unknown, filter: string): Promise<unknown[]> {
  const lines = await run(wellFormed(JSON.stringify(value) ?? 'null'), filter, 'failed');
  return lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line));
}

/** As gh prints them: text raw, null as an empty line, anything deeper as JSON. */
export function resultLine(result: unknown, indent?: number): string {
  if (typeof result === 'string') return result;
  return result === null ? '' : toJson(result, indent);
}

/** jq refuses half a surrogate pair, which a service may send; JSON.stringify writes only those as escapes. */
const wellFormed = (json: string): string =>
  json.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/gu, (written, half) => (half ? '\\ufffd' : written));

async function run(json: string, filter: string, kind: 'usage' | 'failed'): Promise<string> {
  const jq = await loading;
  const { exitCode } = process;
  // The space: a filter may begin with a minus, which would be read as an option.
  const program = filter.trim() === '' ? '.' : ` ${filter}`;
  try {
    return jq.raw(json, program, ['-c']) ?? '';
  } catch (error) {
    throw new Failure(
      kind,
      `The filter ${filter} ${kind === 'usage' ? 'is not valid jq' : 'failed'}: ${said(error)}.`,
      {
        hint: kind === 'usage' ? 'The language: https://jqlang.org/manual/' : 'Look at the data with --json.',
      },
    );
  } finally {
    // jq is a whole program: it leaves its own exit code behind.
    process.exitCode = exitCode;
  }
}

/** The first line that jq said, without its own name and place. */
function said(error: unknown): string {
  const { stderr, message } = error as { stderr?: string; message: string };
  const lines = (stderr ?? message).split('\n');
  const line = lines.find((text) => text.startsWith('jq: error')) ?? lines[0] ?? '';
  return line
    .replace(/^jq: error(?: \(at [^)]*\))?: /u, '')
    .replace(/ at <[^>]*>.*$/u, '')
    .replace(/ \(Unix shell quoting issues\?\)|[.:]$/gu, '');
}
