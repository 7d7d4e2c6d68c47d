/** `--profile`, of a term that may have a letter and a value too. */
export const longName = (term: string): string => /--[\w-]+/u.exec(term)?.[0] ?? '';

export const isHelpFlag = (word: string): boolean => word === '--help' || word === '-h';
