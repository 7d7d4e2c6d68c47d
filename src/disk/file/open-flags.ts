import { constants } from 'node:fs';

/**
 * Part of every open of what may be a pipe: a wait for who is at its other end cannot be cancelled, and keeps the process from
 * ending. Windows has no such flag.
 */
export const withoutWaiting = constants.O_NONBLOCK ?? 0;

export const toRead = constants.O_RDONLY | withoutWaiting;
export const toAppend = constants.O_CREAT | constants.O_APPEND | withoutWaiting;
