import { randomBytes } from 'node:crypto';

/** A part of a file's name that no other process comes to at the same moment. */
export const randomName = (): string => randomBytes(8).toString('hex');
