/**
 * The text's one statement, without its semicolon. The engine itself says where it ends, and whether more follows.
 *
 * @param prepare throws where the text's first statement does not compile
 */
export declare function oneStatement(text: string, prepare: (text: string) => unknown): string;
