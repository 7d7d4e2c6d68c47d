/** Turns a cell (an id, or what stands for one) into an id of the service, or says why not. */
export type Resolve = (cell: string) => number | { readonly problem: string };

/** The id itself. */
export const asId: Resolve = (cell) => {
  const id = /^\+?\d+$/u.test(cell) ? Number(cell) : Number.NaN;
  return Number.isSafeInteger(id) && id > 0 ? id : { problem: `must be a number, not "${cell.slice(0, 40)}"` };
};
