import type { HttpResponse } from '../context.ts';
import { isRecord } from '../text/record.ts';

const done = /\b(?:ok|true|done|success(?:ful(?:ly)?)?|revoked|disconnected|removed|deleted)\b/iu;
const undone = /\b(?:not|no|un\w+|in\w*valid|fail\w*|error\w*|false|denied|busy|timeout)\b/iu;

const saysDone = (text: string): boolean => done.test(text) && !undone.test(text);

/**
 * Whether a success of the revocation endpoint may be its own. What that says is not described (service.md#oauth-8): nothing, or
 * a few words that it is done. A page, as a network shows it to who is to sign in there, an error, and any other sentence are
 * somebody else's.
 */
export function isRevocation({ headers, body }: HttpResponse): boolean {
  const text = body.trim();
  if (text === '') return true;
  if (/^text\/html\b/iu.test(headers['content-type'] ?? '')) return false;
  try {
    return isDone(JSON.parse(text));
  } catch {
    return text.length < 80 && saysDone(text);
  }
}

function isDone(json: unknown): boolean {
  if (!isRecord(json)) return json === true || json === null || (Array.isArray(json) && json.length === 0);
  return Object.entries(json).every(([name, value]) => {
    if (/error/iu.test(name)) return value === null || value === false || value === '';
    if (/^(?:ok|success|revoked|done)$/iu.test(name))
      return value === true || Number(value) > 0 || saysDone(String(value));
    if (/^(?:status|code|status_?code)$/iu.test(name) && typeof value === 'number') return value < 300;
    return !/^(?:message|status|detail|title)$/iu.test(name) || (typeof value === 'string' && saysDone(value));
  });
}
