import type { HttpResponse } from '../context.ts';
import { jsonIn } from '../text/json.ts';
import { type Fields, isRecord } from '../text/record.ts';

const done = /\b(?:ok|true|done|success(?:ful(?:ly)?)?|revoked|disconnected|removed|deleted)\b/iu;
const undone = /\b(?:not|no|un\w+|in\w*valid|fail\w*|error\w*|false|denied|busy|timeout)\b/iu;

const saysDone = (text: string): boolean => done.test(text) && !undone.test(text);

/**
 * Whether a success of the revocation endpoint may be its own. What that says is not described (service.md#oauth-8): nothing, or
 * a few words that it is done. A page, as a network shows it to who is to sign in there, an error, and any other sentence are
 * somebody else's.
 */
export function isRevocation({ body }: HttpResponse): boolean {
  const text = body.trim();
  if (text === '') return true;
  const json = jsonIn(text);
  if (json !== undefined) return isDone(json);
  return !/<[!/?a-z]/iu.test(text) && text.length < 80 && saysDone(text);
}

function isDone(json: unknown): boolean {
  if (typeof json === 'string') return json.trim() === '' || saysDone(json);
  if (!isRecord(json)) return json === true || json === null || (Array.isArray(json) && json.length === 0);
  const signs = signsIn(json);
  const isBlank = Object.values(json).every((value) => value === null || value === '');
  return !signs.includes('refused') && (isBlank || signs.includes('done'));
}

/** Beside a flag that says it is done, only words that deny it count. What has an unknown name says nothing. */
function signsIn(json: Fields): ('done' | 'refused')[] {
  const fields = Object.entries(json).filter(([, value]) => value !== null && value !== '');
  const isFlagged = fields.some(([name, value]) => flag.test(name) && (value === true || value === 1));
  return fields.flatMap(([name, value]) => {
    if (/error/iu.test(name)) return value === false ? [] : ['refused'];
    if (name === 'data') return isRecord(value) ? signsIn(value) : [];
    if (flag.test(name)) return [value === true || Number(value) > 0 || saysDone(String(value)) ? 'done' : 'refused'];
    if (!/^(?:message|status|code|status_?code|detail|title|result|reason)$/iu.test(name)) return [];
    if (typeof value === 'number') return [value < 300 ? 'done' : 'refused'];
    if (isFlagged && typeof value === 'string' && !undone.test(value)) return [];
    return [typeof value === 'string' && saysDone(value) ? 'done' : 'refused'];
  });
}

const flag = /^(?:ok|success|done|deleted|(?:is_|token_)?(?:revoked|invalidated))$/iu;
