/** The forms of what is printed line by line, as it comes. Apart: the help of topics loads `outputs.ts` and nothing else for it. */
export const streamForms = ['table', 'json', 'jsonl'] as const;
