/**
 * For a program that has the terminal, a pager or an editor: fires where svc is to end, but not at Ctrl-C, which such a
 * program gets by itself and may take for something else.
 */
export function endOf(signal: AbortSignal): AbortSignal {
  const end = new AbortController();
  const look = () => {
    if (signal.reason !== 'SIGINT') end.abort();
  };
  if (signal.aborted) look();
  else signal.addEventListener('abort', look, { once: true });
  return end.signal;
}

/** A command line for `sh -c` that, where it is one program, is run in place of the shell: whoever ends the one ends the other. */
export const inPlace = (command: string): string =>
  /[;&|<>()$`\n]|^\s*\w+=/u.test(command) ? command : `exec ${command}`;
