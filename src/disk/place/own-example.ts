import { shellWord } from '../../text/shell-word.ts';

/**
 * A line of the help as it can be typed where svc was started: a file of `examples/` that is not there is named as it lies
 * in the package. `program`: the script; a single executable has the files within.
 */
export function withOwnExample(line: string, folder = '.', program = process.argv[1] ?? ''): string {
  return line.replace(/(?<= )examples\/[\w.-]+/u, (name) => {
    const { existsSync, realpathSync } = process.getBuiltinModule('node:fs');
    const { dirname, join } = process.getBuiltinModule('node:path');
    if (existsSync(join(folder, name)) || !existsSync(program)) return name;
    const own = join(dirname(dirname(realpathSync(program))), name);
    return existsSync(own) ? shellWord(own) : name;
  });
}
