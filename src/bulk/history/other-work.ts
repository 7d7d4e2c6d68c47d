import { someOf } from '../../text/each.ts';
import { claimedRows, haveCommonRow } from '../journal/claims.ts';
import type { Found, OnDisk } from '../journal/on-disk.ts';
import type { Plan } from '../rows/plan.ts';
import { isOpen, isOver, type Sides } from './weigh.ts';

/** Whether a later --restart than that of a journal has begun a row again. */
export function begunAgainSince({ past: { restarted } }: Found, all: readonly Found[]): (ref: string) => boolean {
  const later = all.filter(({ past }) => past.restarted.run > restarted.run);
  return (ref) => later.some(({ past }) => past.restarted.has(ref));
}

/** Whether it tells of a --restart, and a later one has begun all of its rows that stand in this file. */
export function isOvertaken(one: Found, all: readonly Found[], { refs }: Pick<Plan, 'refs'>): boolean {
  const { restarted } = one.past;
  if (restarted.size === 0) return false;
  const isLater = begunAgainSince(one, all);
  return someOf(refs, ([ref]) => isLater(ref)) && !someOf(refs, ([ref]) => restarted.has(ref) && !isLater(ref));
}

/** Runs of some of these rows that are not finished, and had other flags or another template. */
export async function otherWork(
  { ours, strange: doubtful }: OnDisk,
  { plan, file }: Sides,
  settings: string,
): Promise<Found[]> {
  const found: Found[] = [];
  const strange = doubtful.filter(({ past }) => past.header.svc_bulk === 1);
  for (const one of [...ours, ...strange]) {
    const { header, rowStatuses, files } = one.past;
    const isOther = header.settings !== settings || strange.includes(one);
    const isBegunAgain = (row: string) =>
      ours.some(
        ({ past }) =>
          past.header.settings === settings && past.restarted.run > rowStatuses.runOf(row) && past.restarted.has(row),
      );
    if (!isOther || !isOpen(one) || !someOf(rowStatuses.keys(), (row) => !isBegunAgain(row))) continue;
    const claimed = await claimedRows(one.path);
    if (header.svc_bulk === 1) {
      if (files.has(file)) found.push(one);
      continue;
    }
    const hasCommon = claimed ? haveCommonRow(plan, claimed) : someOf(rowStatuses.keys(), (row) => plan.refs.has(row));
    if (hasCommon && !isOver(one, claimed?.refs, ours)) found.push(one);
  }
  return found;
}
