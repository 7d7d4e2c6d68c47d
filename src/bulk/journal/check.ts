import { isCount, isTime } from '../../batch/journal-values.ts';
import { jsonAs } from '../../text/json.ts';
import { type Fields, fieldsIn, isRecord, isText, isTexts } from '../../text/record.ts';
import type { About, Line } from './lines.ts';

const isId = (value: unknown): boolean => value === null || isCount(value);
const areIds = (ids: unknown): boolean => Array.isArray(ids) && ids.every(isCount);
const isBefore = ({ before, there, left, made }: Fields): boolean =>
  isId(before) && (there === undefined || areIds(there)) && [left ?? 0, made ?? 0].every(isCount);
const areKeys = (keys: unknown): boolean => keys === undefined || isTexts(keys);
const isMade = ({ id, of, keys, at }: Fields): boolean =>
  isId(id) && (of === undefined || isCount(of)) && areKeys(keys) && (at === undefined || isTime(at));

export const parseLine = (text: string): Line | undefined => jsonAs(text, isLine);

const areNamed = (again: unknown): boolean => again === undefined || (Array.isArray(again) && again.every(isTexts));

const isAbout = (about: unknown): about is Fields & About =>
  isRecord(about) &&
  isText(about.row) &&
  isCount(about.line) &&
  (about.is === undefined || isText(about.is)) &&
  (about.unsure === undefined || isText(about.unsure)) &&
  areNamed(about.again);

const isRenamed = (one: unknown): boolean => {
  const { was, row, fate, settings, sent } = fieldsIn(one);
  const { status, line, ...said } = fieldsIn(fate);
  if (!isText(was) || !isText(row) || !isCount(line) || !(settings === undefined || isText(settings))) return false;
  if (!(sent === undefined || isCount(sent))) return false;
  if (status === 'done') return isMade(said);
  if (status === 'sent' || status === 'meant') return isBefore(said);
  return (status === 'rejected' || status === 'unknown') && isText(said.error);
};

function isHeader({ svc_bulk, file, started_at, ...texts }: Fields): boolean {
  const names = svc_bulk === 1 ? ['place', 'account'] : ['scope', 'profile'];
  const named = ['command', 'settings', ...names].every((name) => isText(texts[name]));
  return (svc_bulk === 1 || svc_bulk === 2) && named && isTime(started_at) && (file === null || isText(file));
}

function isLine(line: unknown): line is Line {
  if (!isRecord(line)) return false;
  if ('svc_bulk' in line) return isHeader(line);
  const { run, there, again, restart, renamed, meant, drafting, sent, back, done, rejected, unknown, finished } = line;
  if (run || finished) {
    const { at, number = 0 } = fieldsIn(run ?? finished);
    return isTime(at) && isCount(number);
  }
  if (there) {
    const { ids, key = 0, since = null } = fieldsIn(there);
    return areIds(ids) && isCount(key) && isId(since);
  }
  if (again) {
    const { rows, settings } = fieldsIn(again);
    return [rows, settings].every(isTexts);
  }
  if (restart) {
    const { rows, is = [] } = fieldsIn(restart);
    return [rows, is].every(isTexts);
  }
  if (renamed) {
    const { rows } = fieldsIn(renamed);
    return Array.isArray(rows) && rows.every(isRenamed);
  }
  if (meant) {
    const { rows, ...said } = fieldsIn(meant);
    return isBefore(said) && Array.isArray(rows) && rows.every(isAbout);
  }
  const about = drafting ?? sent ?? back ?? done ?? rejected ?? unknown;
  if (!isAbout(about)) return false;
  const { keys, like } = about;
  if (!(like === undefined || isText(like))) return false;
  if (drafting) return isText(about.batch);
  if (sent) return isBefore(about) && areKeys(keys);
  if (back) return true;
  if (!isCount(about.requests) || !isCount(about.ms)) return false;
  if (!done) return isText(about.error);
  return isMade(about) && (about.error === undefined || isText(about.error));
}
