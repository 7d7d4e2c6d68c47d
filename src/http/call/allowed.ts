import type { Input, Operation } from '../../api/operation.ts';
import { wireOf } from '../exchange/request.ts';
import { requireAllowed } from '../send/reaching.ts';
import { type Service, withHint } from './call.ts';

/** Throws what forbids a request that is not sent now. */
export const requireAllowedNow = (service: Service, operation: Operation, input: Input<Operation>): Promise<void> =>
  requireAllowed(
    service,
    withHint(operation, input),
    wireOf(operation, input, { partner: service.settings.partnerSegment }),
  );
