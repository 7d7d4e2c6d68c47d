import type { AsRead } from './as-read.ts';
import type { Failure } from './errors.ts';

/** Who hears of a request. The public reads what is published; a draft of the portal reaches nobody. */
export type Hearers = 'customer' | 'public';

/** A request that may reach a customer or the public, before it leaves. */
export type SendRequest = {
  readonly operation: string;
  readonly hearers: Hearers;
  readonly method: string;
  /** Below the base URL, without a query. */
  readonly path: string;
  /** Parsed; undefined where there is none. */
  readonly body: unknown;
  /** The record that it is about; `id` is undefined for one that it makes. */
  readonly record: { readonly kind: string; readonly id: number | undefined };
  readonly baseUrl: string;
  /** The record as the service shows it; undefined where this login may not read it, or there is none. */
  readonly read: () => Promise<AsRead<Readonly<Record<string, unknown>> | undefined>>;
  /** Undefined where this login may not ask. */
  readonly account: () => Promise<number | undefined>;
  /** A digest of the credential; undefined where it cannot be had. */
  readonly login: () => Promise<string | undefined>;
};

/** `go`: it may leave. Otherwise the failure says that it became a draft, or what forbids it. */
export type Verdict = 'go' | Failure;

/** What one command wants of its sends. */
export type SendWish = {
  /** Nothing is sent: each becomes a draft. */
  readonly draft?: boolean;
  /** The command has a --draft that means something else. */
  readonly hasOwnDraft?: boolean;
  readonly holdMs?: number;
  readonly face?: 'cli' | 'bulk' | 'api' | 'mcp' | 'inbox';
  /** The name of the program that an assistant runs in. */
  readonly client?: string;
  /** Drafts of one run of a file. */
  readonly batch?: string;
  /** The same draft has the same key: what is drafted again after a crash is one. */
  readonly key?: string;
  /** Before a draft of it is kept. */
  readonly onDraft?: () => Promise<void>;
  /** What follows once it is done, in this order. */
  readonly follows?: readonly Pick<SendRequest, 'operation' | 'method' | 'path' | 'body'>[];
  /** A person has approved it: no mode holds it. */
  readonly approved?: boolean;
};

/** The one gate before anything that reaches a customer or the public. */
export type Sends = {
  judge(request: SendRequest): Promise<Verdict>;
  /** Whether what might go, and was refused for now, still may: the rules as they are now. It is not asked, held or counted again. */
  judgeAgain(request: SendRequest): Promise<Verdict>;
  /** When the rules began to be looked at for what might go, in the clock's ticks: reading, a person and its place in the hour take time. */
  judgedAt(request: SendRequest): number | undefined;
  /** A request that might go was surely not done: it does not count. */
  takeBack(request: SendRequest): Promise<void>;
  with(wish: SendWish): Sends;
  /** Whether --draft was given. */
  readonly isDraft: boolean;
  /** What becomes of each send, as far as that is known before it is judged. */
  mode(): Promise<'allow' | 'ask' | 'draft'>;
};
