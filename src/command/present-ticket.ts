import type { Output } from '../api/operation.ts';
import { getTicket } from '../api/tickets.ts';
import { Failure } from '../errors.ts';
import { call, type Service } from '../http/call.ts';

/** The ticket as it is now; undefined for who may write and not read. */
export const presentTicket = (service: Service, id: number): Promise<Output<typeof getTicket>['ticket'] | undefined> =>
  call(service, getTicket, { params: { id } }).then(
    ({ ticket }) => ticket,
    (error: unknown) => {
      if (error instanceof Failure && error.kind === 'forbidden') return undefined;
      throw error;
    },
  );
