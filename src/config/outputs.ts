/** The forms of output that every command has. Alone here: the help of a topic names them, and loads nothing else for it. */
export const outputs = ['table', 'json', 'jsonl', 'csv', 'yaml'] as const;
