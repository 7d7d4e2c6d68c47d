/** The file of the copy in the state folder; apart, since whoever only looks whether it is there loads nothing else. */
export const copyName = 'mirror.db';
