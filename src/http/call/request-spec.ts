import type { Operation } from '../../api/operation.ts';
import { type Resource, resources } from '../../api/resources.ts';
import { capital } from '../../text/capital.ts';
import { type Fields, fieldsIn, isId } from '../../text/record.ts';
import { sanitize } from '../../text/sanitize.ts';
import { shellWord } from '../../text/shell-word.ts';
import type { RequestSpec, Service } from '../exchange/asking.ts';
import { givenIds, madeIds } from '../exchange/made.ts';
import { shownIn } from '../exchange/shown.ts';
import { answeredOtherwise, otherThanSent } from '../look/answered-otherwise.ts';
import type { Before } from '../look/before.ts';
import { confirmedUpdate } from '../look/confirmed-update.ts';
import type { Prepared } from '../look/look.ts';
import type { LookAgain } from '../look/look-again.ts';

export type Typed = { readonly params?: unknown; readonly body?: unknown };

export type Evidence = Partial<Pick<Prepared, 'before' | 'takes'>> & {
  /** Of an update: the record before it. */
  readonly was?: Fields | undefined;
  /** Reads with the parameters of this very write. */
  readonly readOf: (service: Service) => LookAgain['read'];
};

/**
 * What sending must know, with the place to look as it can be typed: with the id and the subject of this very write.
 * That is made up only where it is told.
 */
export function requestSpec(operation: Operation, input: Typed, evidence: Evidence): RequestSpec {
  const { effect } = operation;
  if (!effect) return operation;
  const { params, body } = input;
  const { before, takes = () => true, was, readOf } = evidence;
  const asked: RequestSpec = {
    ...operation,
    about: aboutOf(operation, params),
    promised: operation,
    // An id is taken only where all else agrees.
    showsOther: (json, answer) =>
      showsOther(operation, { params, before }, json) ||
      answeredOtherwise(operation, body, json) ||
      !takes(givenIds(operation, json), answer),
    otherIn: (json) => otherThanSent(operation, body, json),
    confirmed: (service, answer, json) =>
      confirmedUpdate({ ctx: service.ctx, operation, input, asked, was, read: readOf(service) }, answer, json),
    get effect() {
      const { lookHint, refusedHint } = effect;
      return {
        ...{ ...effect, lookHint: typed(lookHint, input) },
        ...(refusedHint !== undefined && { refusedHint: typed(refusedHint, input) }),
      };
    },
  };
  return asked;
}

/** The record that a write changes; the kind alone of one that it makes. */
function aboutOf({ ids = {}, resource }: Operation, params: unknown): NonNullable<RequestSpec['about']> {
  const [[name, kind] = []] = Object.entries(ids);
  if (name === undefined || kind === undefined) return { kind: resource, id: undefined };
  const id = fieldsIn(params)[name];
  return { kind, id: isId(id) ? id : undefined };
}

function typed(hint: string, { params, body }: Typed): string {
  const id = Object.values(fieldsIn(params))[0];
  const { subject = 'SUBJECT' } = fieldsIn(body);
  return hint
    .replace(/\bID$/u, () => String(id ?? 'ID'))
    .replace(/\bSUBJECT$/u, () => sanitize(shellWord(String(subject))));
}

/** The record that a request is about, as its answer leaves open: `Ticket 7`. */
export function askedFor({ ids = {} }: Operation, { params }: Typed): string {
  const of = Object.entries(ids).map(([name, resource]) => `${resources[resource].noun} ${fieldsIn(params)[name]}`);
  return capital(of.join(', '));
}

/** A table shows tickets by their number, and a number without its letters is taken for an id. */
export const numberAdvice = ({ ids = {} }: Operation): string | undefined =>
  Object.values(ids).includes('tickets')
    ? 'If you mean the number of a ticket, type it as the list shows it, such as T-1008.'
    : undefined;

/** What helps where a record is not there. */
export const missingAdvice = (operation: Operation): string =>
  [numberAdvice(operation), listAdvice(operation)].filter((line) => line !== undefined).join('\n');

/** Where its ids can be seen. */
function listAdvice({ ids = {} }: Operation): string | undefined {
  const [kind] = Object.values(ids);
  const { list }: Partial<Resource> = kind === undefined ? {} : resources[kind];
  return list && `To see the ids: svc ${list}`;
}

type About = Pick<Operation, 'safety' | 'resource' | 'answer' | 'makes' | 'deletes' | 'params'>;

/** What a write was asked to do, and what was there before it. */
type Write = {
  readonly params?: unknown;
  readonly before?: Pick<Before, 'ids' | 'isWhole' | 'grows'>;
};

/**
 * Whether a whole record in an answer is surely not the one that the write has made or changed: it was there before, or
 * it has another id than the path. Whatever stands before the service may mix up answers. Ids are never reused
 * (service.md#records-1), but need not grow: what was read is known by each id. Where only the newest page was read, and
 * shows that ids grow, an old record is known by one that is newer.
 */
function showsOther(operation: About, { params, before }: Write, json: unknown): boolean {
  const { safety, deletes } = operation;
  if (safety === 'verify') {
    const made = madeIds(operation, json);
    return new Set(made).size < made.length || (before !== undefined && made.some(wasThere(before)));
  }
  if (safety !== 'repeatable' || deletes) return false;
  const [asked] = Object.values(fieldsIn(params)).filter(isId);
  const changed = changedId(operation, json);
  return asked !== undefined && changed !== undefined && changed !== asked;
}

/** Only what this run has read counts: a service that was reset begins its ids again. */
function wasThere({ ids, isWhole, grows }: NonNullable<Write['before']>): (id: number) => boolean {
  if (isWhole || !grows) return (id) => ids.includes(id);
  const newest = ids.reduce((most, id) => Math.max(most, id), 0);
  return (id) => id <= newest;
}

/** Contact lists are called otherwise in the answers to writes. */
function changedId({ resource, answer }: About, json: unknown): number | undefined {
  const { idField = 'id' } = resources[resource];
  const record = shownIn({ answer }, json);
  return [record[idField], record.contact_list_id].find(isId);
}
