import { someOf } from '../../text/each.ts';
import { claimedRows, haveCommonRow } from '../journal/claims.ts';
import type { Found, OnDisk } from '../journal/on-disk.ts';
import { isOpen, isOver, type Sides } from './weigh.ts';

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
