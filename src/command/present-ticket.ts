import type { Output } from '../api/operation.ts';
import { getTicket } from '../api/tickets.ts';
import { call, type Service } from '../http/call/call.ts';
import { insteadOf } from '../promise/instead-of.ts';

/** The ticket as it is now; undefined for who may write and not read. */
export const presentTicket = (service: Service, id: number): Promise<Output<typeof getTicket>['ticket'] | undefined> =>
  call(service, getTicket, { params: { id } }).then(({ ticket }) => ticket, insteadOf(['forbidden'], undefined));
