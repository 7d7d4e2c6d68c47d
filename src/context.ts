import type { Writable } from 'node:stream';
import type { Exchange } from './http-port.ts';
import type { Sends } from './sends-port.ts';
import type { TerminalPort } from './terminal-port.ts';

export type { Exchange, HttpRequest, HttpResponse, Lost } from './http-port.ts';
export type { Hearers, SendRequest, Sends, SendWish, Verdict } from './sends-port.ts';

export type Clock = {
  /** The wall clock. It may jump: for waits and deadlines use `ticks`. */
  now(): Date;
  /** Milliseconds since some fixed moment. Never goes back, also where the wall clock is set. */
  ticks(): number;
  /** Resolves early, never rejects, when `signal` fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

/**
 * Where secrets are kept, by name (for example `profile/default`). `update` runs `change` alone across all processes
 * on that name; what it returns is durable before `update` resolves; undefined forgets the secret.
 */
export type TokenStore = {
  read(name: string): Promise<string | undefined>;
  update(
    name: string,
    /** `ready` comes before a step that cannot be repeated: it throws where the result could not be saved. */
    change: (
      current: string | undefined,
      ready: () => Promise<void>,
      /** An earlier change was killed behind its `ready`: nobody knows what became of that step. */
      wasCut: boolean,
    ) => Promise<string | undefined>,
    /** `as-is`: it stays where it is kept now. `best`: in the keyring where there is one. `file`: never there, and what is forgotten may stay in the keyring. */
    place?: 'as-is' | 'best' | 'file',
    patience?: Patience,
  ): Promise<string | undefined>;
  /** Every name that begins with `prefix`. */
  names(prefix: string): Promise<string[]>;
  /** Where a secret of that name is, or would be, kept. */
  where(name: string): Promise<'keyring' | 'file'>;
};

/** How a wait for another process goes; what is absent is as the store was opened. */
export type Patience = {
  /** Default: two minutes. */
  readonly maxWaitMs?: number;
  /** Ends the wait at once. */
  readonly signal?: AbortSignal;
  readonly progress?: Context['progress'];
  readonly notice?: Context['notice'];
};

export type Choice = { readonly value: string; readonly name?: string; readonly description?: string };

/** What an editor has saved. */
export type KeptFile = { readonly path: string; readonly remove: () => Promise<void> };

/** Questions to a person. Only for a terminal: `canAsk` is false in a pipe, and then the flag is named instead. */
export type Ask = {
  readonly canAsk: boolean;
  /** `shown`: a text that the question is about, above it. What was typed before it was there is no answer to it. */
  confirm(question: string, options?: { readonly shown?: string }): Promise<boolean>;
  /** `signal` takes the question back; the promise then never counts. */
  text(
    question: string,
    /** `isFleeting`: nothing of the question stays on the screen. `isConsent`: as with `confirm`, nothing typed before counts. */
    options?: { readonly signal?: AbortSignal; readonly isFleeting?: boolean; readonly isConsent?: boolean },
  ): Promise<string>;
  secret(question: string): Promise<string>;
  /** A line as it is typed, and nothing drawn: for screen readers and simple terminals. Undefined at the end of input. */
  line(question: string, options?: { readonly isConsent?: boolean }): Promise<string | undefined>;
  /** A choice without a value stands for any other: what was typed is the answer, or nothing where nothing was. */
  choose(question: string, choices: readonly Choice[]): Promise<string>;
  /** Opens the user's editor on `initial` and returns the text as saved. */
  edit(
    initial: string,
    /** `failed`: told what the file holds where the editor failed or was killed; then the failure is thrown. */
    options?: {
      readonly extension?: string;
      readonly failed?: (text: string) => void;
      /** The file of the editor stays until it is removed, also where svc ends at once: no text is lost before it is elsewhere. */
      readonly kept?: (file: KeptFile) => void;
      /** The text is no message: it becomes a file, and could be given with --text. */
      readonly isFile?: boolean;
      /** What is so where no text comes of it, instead of `nothing was sent`. */
      readonly otherwise?: string;
    },
  ): Promise<string>;
};

/**
 * `wait`: for something that is named. `look`: for a write whose answer was lost. `work`: much of the same, of which
 * some is done. `request`: for any answer.
 */
export type Doing = 'wait' | 'look' | 'work' | 'request';

/** A write of a command, as its user is told of it: "the entry was created (id 12)". */
export type Write = {
  readonly of: string;
  readonly done: string;
  /** Where a person can see it; a full sentence. */
  readonly lookHint: string;
  /** Doing it twice is doing it once. */
  readonly isRepeatable: boolean;
  readonly ids: () => readonly number[];
};

/**
 * What one command has written so far. What its exit code claims is about all of it, so every request that writes is
 * noted here by whoever sends it, and read where the command ends.
 */
export type Writes = {
  readonly done: Write[];
  /** Nobody knows whether the service has acted on these. */
  readonly unknown: Write[];
  /** How to do the rest where the command stops half-way; full sentences. Set by a command that knows. */
  rest?: string;
  /** What a person wrote in the editor for it; kept in a file where the command fails. */
  text?: string;
  /** The file of that editor, which goes once the command is over. */
  file?: KeptFile;
};

/** A request as `--dry-run` shows it. `body`: parsed where it is JSON; null where there is none. */
export type Shown = { readonly method: string; readonly path: string; readonly body: unknown };

/** Of a command that only shows what it would write: nothing that writes is sent, and each ends with the same failure. */
export type Preview = { readonly requests: Shown[]; readonly end: Error };

/** Where a write comes from, for the record of writes. What is absent is as for a command. */
export type Origin = {
  readonly face?: 'cli' | 'bulk' | 'api' | 'mcp' | 'inbox' | 'serve';
  /** The words behind `svc`, or the name of an assistant's tool. */
  readonly command?: string;
  /** The program that uses svc, as it names itself. */
  readonly client?: string;
  /** The row of the journal that it belongs to. */
  readonly row?: string;
  /** The number by which its user named the record, such as T-1008. */
  readonly named?: string;
  /** The id of the draft that it sends. */
  readonly draft?: number;
};

/** Everything svc touches outside its own memory. Built once, in `node/context.ts`; faked once, in `test/svc.ts`. */
export type Context = {
  /** `destroy` gives up on what may still come: a pipe that stays open would keep the process alive. `fd`: what it is read from. */
  readonly stdin: AsyncIterable<Uint8Array> & {
    readonly isTTY?: boolean;
    readonly destroy?: () => void;
    readonly fd?: number;
  };
  /** `isFile`: all of it goes into a file, so no runner reads it as it is written. */
  readonly stdout: Writable & {
    readonly isTTY?: boolean;
    readonly columns?: number;
    readonly rows?: number;
    readonly isFile?: boolean;
  };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Folders of svc's own; they may not exist yet. */
  readonly files: { readonly config: string; readonly state: string };
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly tokens: TokenStore;
  readonly ask: Ask;
  /**
   * What is going on, replaced by the next text of the same `doing` (default: `wait`); undefined ends it. Shown on
   * standard error once it takes long. `progress(undefined)` also makes room for what is written next.
   */
  readonly progress: (text: string | undefined, doing?: Doing) => void;
  /** What a command whose progress has one total says of a wait for the rate limit, in place of the usual words. */
  readonly limitWait?: (leftMs: number) => string | undefined;
  /** A lasting line on standard error: notes and warnings. A line end in it is shown, so a text of others stays within it. */
  readonly notice: (text: string) => void;
  /** Tells the runner of this job a workflow command. Absent where no runner reads what is written. */
  readonly runner?: (command: string) => void;
  /** Shows a long text in that pager, or the default one. False where it could not be started. */
  readonly page?: (command: string | undefined, text: string) => Promise<boolean>;
  /** The terminal for a full screen. Absent where there is none: standard input or output is no terminal. */
  readonly terminal?: () => Promise<TerminalPort>;
  /** `visited` fires when the browser has been there, or nobody waits for it any more. No argument list holds the URL. */
  readonly openBrowser: (url: URL, visited: AbortSignal) => Promise<void>;
  /** Calls at each SIGHUP, which then no longer ends the process. Returns what ends that. */
  readonly onHangup?: (call: () => void) => () => void;
  /** The program and its first arguments that start this svc once more. Absent where it runs inside of another program. */
  readonly itself?: () => Promise<readonly string[]>;
  /** What this command has written so far. Absent where somebody else keeps account of it: rows of a file. */
  readonly writes?: Writes;
  readonly origin?: Origin;
  /** With --dry-run: requests that write end here instead of going out. */
  readonly preview?: Preview;
  /** Asked by `http/` before each request that reaches a customer or the public. Absent where nobody set rules. */
  readonly sends?: Sends;
  /** Fires on SIGINT, SIGTERM and SIGHUP; `reason` is the signal's name. */
  readonly signal: AbortSignal;
};

/** The context with some of it replaced; what is not named stays `ctx`'s own, also where that changes later. */
export const withContext = <C extends Partial<Context>>(ctx: C, own: Partial<Context>): C =>
  Object.create(ctx, Object.getOwnPropertyDescriptors(own));
