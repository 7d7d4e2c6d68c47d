import { join } from 'node:path';
import { diskFailure } from '../disk/file/disk-failure.ts';
import { namesIn } from '../disk/file/folder.ts';
import { waitingFor, withLock } from '../disk/lock/lock.ts';
import { appendLines } from '../disk/log/append-lines.ts';
import { tailOf } from '../disk/log/tail.ts';
import { orElsewhere } from '../disk/place/elsewhere.ts';
import { Failure } from '../errors.ts';
import { jsonAs, jsonIn } from '../text/json.ts';
import { fieldsIn, isRecord } from '../text/record.ts';
import { type Draft, draftStates } from './draft.ts';
import type { DraftStore, StoreNeeds } from './draft-store.ts';

/** A line of the log: the draft as it is from here on. Numbers go up by one, so a line that is missing is seen. */
type Line = { readonly n: number; readonly draft: Draft };

/** Drafts in a folder: an append-only log, each step under one lock. */
export async function openFolder(ctx: StoreNeeds, named: string | undefined): Promise<DraftStore> {
  const folder = named ?? join(ctx.files.state, 'drafts');
  const path = join(folder, 'drafts.jsonl');
  const tail = tailOf(path);
  const drafts = new Map<number, Draft>();
  const keys = new Map<string, number>();
  let last = 0;
  const take = ({ n, draft }: Line) => {
    last = n;
    drafts.set(draft.id, draft);
    if (draft.key !== null) keys.set(draft.key, draft.id);
  };
  let damage: Failure | undefined;
  const readOn = async () => {
    // What is behind it is not read on from either.
    if (damage) throw damage;
    for (const text of await tail.lines()) {
      const line = jsonAs(text, isLine);
      // Torn by a crash: nobody was told of it. One that is whole has the next number.
      if (!line && isTorn(text)) continue;
      if (line?.n !== last + 1) {
        damage = damaged(path, line ? 'lines are missing' : 'it holds something else than drafts');
        throw damage;
      }
      take(line);
    }
  };
  const alone = async <T>(work: (write: (draft: Draft) => Promise<Draft>) => Promise<T>): Promise<T> => {
    try {
      return await withLock(join(folder, 'lock'), waitingFor(ctx, 'the drafts'), async (held) => {
        await readOn();
        return work(async (draft) => {
          held.check();
          await appendLines(path, [JSON.stringify({ n: last + 1, draft } satisfies Line)]);
          // What others read is what this process believes.
          await readOn();
          return draft;
        });
      });
    } catch (error) {
      const advice = orElsewhere(named === undefined ? 'SVC_STATE_DIR' : 'SVC_DRAFTS_DB');
      throw diskFailure(error, `The drafts in ${folder} cannot be kept`, advice);
    }
  };
  return {
    place: folder,
    add: (draft) =>
      alone(async (write) => {
        const present = draft.key === null ? undefined : drafts.get(keys.get(draft.key) ?? 0);
        return present ?? (await write({ ...draft, id: drafts.size + 1 }));
      }),
    // A look leaves nothing behind where none was ever kept.
    list: async () => {
      const names = await namesIn(folder).catch((error: unknown) => {
        throw diskFailure(error, `The drafts in ${folder} cannot be read`);
      });
      return names.length > 0 ? alone(async () => [...drafts.values()]) : [];
    },
    get: (id) => alone(async () => drafts.get(id)),
    change: (id, change) =>
      alone(async (write) => {
        const draft = drafts.get(id);
        const next = draft && change(draft, ctx.clock.now());
        return next && (await write(next));
      }),
    now: async () => ctx.clock.now(),
    close: async () => {},
  };
}

const damaged = (path: string, how: string): Failure =>
  new Failure('failed', `The log of drafts in ${path} is damaged: ${how}.`, {
    hint: `Nothing was sent. svc cannot tell which drafts were sent: look in the service, then move the file away.`,
  });

const beginning = '{"n":';

/** The beginning of a line, or what some disks leave of one when the power fails. */
function isTorn(text: string): boolean {
  if (/^\0*$/u.test(text)) return true;
  if (!beginning.startsWith(text.slice(0, beginning.length))) return false;
  return jsonIn(text) === undefined;
}

const isLine = (line: unknown): line is Line => isRecord(line) && typeof line.n === 'number' && isDraft(line.draft);

/** Of a file and of a row of a database: it can be read as one. Whether svc made it so, `requireMeant` says. */
export function isDraft(draft: unknown): draft is Draft {
  const { id, state, steps, record, edits, ...fields } = fieldsIn(draft);
  return (
    typeof id === 'number' &&
    draftStates.some((one) => one === state) &&
    ['operation', 'base_url', 'by', 'created_at'].every((name) => typeof fields[name] === 'string') &&
    typeof fieldsIn(record).kind === 'string' &&
    Array.isArray(edits) &&
    Array.isArray(steps) &&
    steps.every(isStep)
  );
}

const isStep = (step: unknown): boolean =>
  ['operation', 'method', 'path', 'state'].every((name) => typeof fieldsIn(step)[name] === 'string');
