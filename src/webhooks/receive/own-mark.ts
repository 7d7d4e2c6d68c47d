import type { Context } from '../../context.ts';

/** What svc passes on says so: what comes back to the one that sent it was passed on to nobody. */
export const markHeader = 'x-svc-passed-by';

export const newMark = ({ random }: Pick<Context, 'random'>): string => Buffer.from(random(8)).toString('hex');

/** Puts the mark behind those of others that the delivery went through. */
export const marking =
  (exchange: Context['exchange'], mark: string): Context['exchange'] =>
  async (request) => {
    const before = request.headers[markHeader];
    const marks = before === undefined ? mark : `${before}, ${mark}`;
    return exchange({ ...request, headers: { ...request.headers, [markHeader]: marks } });
  };

export const isMarked = (header: string | readonly string[] | undefined, mark: string): boolean =>
  header !== undefined && [header].flat().join(', ').split(', ').includes(mark);
