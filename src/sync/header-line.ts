import { isAddress } from '../tabular/columns.ts';
import { judgeBy, sayColumns } from '../tabular/header-line.ts';
import type { TableOptions } from '../tabular/table.ts';
import { isMappable, type MapWish, type Shape } from './mapping.ts';

/** How a line of a file of contacts is told to be its header. */
export const headerLine = (wishes: readonly MapWish[], shape: Shape): Pick<TableOptions, 'judge' | 'wayOut'> => ({
  judge: judgeBy((cells) => isMappable(cells, wishes, shape)),
  wayOut(cells, line) {
    const free = cells.flatMap((_, index) => (index === cells.findIndex(isAddress) ? [] : [index]));
    const others = shape.required.filter((field) => field !== 'email');
    return sayColumns(cells, line, {
      field: 'email',
      others: others.map((field, at) => `#${(free[at] ?? at) + 1}=${field}`),
    });
  },
});
