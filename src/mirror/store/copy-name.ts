/** The file of the copy in the state folder; apart, since whoever only looks whether it is there loads nothing else. */
export const copyName = 'mirror.db';

/** The first account's, or that of another (`fileOf`). */
export const isCopyName = (name: string): boolean => /^mirror(?:-[\da-f]{12})?\.db$/u.test(name);
