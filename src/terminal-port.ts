export type TerminalSize = { readonly columns: number; readonly rows: number };

/** What a terminal tells of itself, and the system of the process. None of these calls may throw. */
export type TerminalEvents = {
  input(bytes: Uint8Array): void;
  resized(): void;
  /** Everything that `write` had kept has left. */
  drained(): void;
  ended(reason: 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'closed'): void;
  /** Somebody else asks the process to stop, as Ctrl-Z does (SIGTSTP). */
  stopping(): void;
  /** The process goes on after it was stopped (SIGCONT). */
  continued(): void;
  /** The process ends now, by whatever: what is not done before this returns is never done. */
  exiting(): void;
};

/** The terminal that a full screen is drawn on: bytes, line modes, signals, and time. */
export type TerminalPort = {
  readonly env: Readonly<Record<string, string | undefined>>;
  size(): TerminalSize;
  /** Begins to tell events. Returns what ends that. */
  listen(events: TerminalEvents): () => void;
  /** Keys come one by one, unseen, Ctrl-C among them (raw mode). Also where another program has left other modes. */
  takeInput(): void;
  /** The line modes are as they were before `takeInput`, and nothing is read. */
  giveInput(): void;
  /** Writes what the terminal takes at once, and keeps the rest. False: there is a rest; `drained` follows. */
  write(text: string): boolean;
  /** Writes all that was kept, and this, before it returns; gives up on a terminal that takes nothing for a second. */
  writeNow(text: string): void;
  /**
   * Another program has the terminal: Ctrl-C is its own. What it returns ends that, and puts back the line modes of
   * before, whatever the program has done to them.
   */
  lend(): () => Promise<void>;
  /** Ends the process as Ctrl-C would (SIGINT). */
  interrupt(): void;
  /** Stops the processes of this job, as Ctrl-Z does. Resolves once it goes on, or where nothing stops. */
  stop(): Promise<void>;
  /** Calls once after so many milliseconds. Returns what ends that. Keeps no process alive. */
  after(ms: number, call: () => void): () => void;
};
