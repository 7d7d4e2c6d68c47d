/** The build writes the help down for the widths of a pipe and of a wide terminal; run from the source, there is none. */
export function builtHelp(width: number): string | undefined {
  if (width !== 80 && width < 120) return undefined;
  try {
    const file = `${import.meta.dirname}/help-${Math.min(width, 120)}.txt`;
    return process.getBuiltinModule('node:fs').readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
