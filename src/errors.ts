import type { HttpResponse } from './http-port.ts';

/** Every way in which a run of svc can end without having done what was asked, and the exit code of each. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  'not-found': 3,
  auth: 4,
  forbidden: 5,
  policy: 5,
  rejected: 6,
  'rate-limited': 7,
  partial: 8,
  unknown: 9,
  network: 10,
  differs: 11,
  hangup: 129,
  interrupted: 130,
  terminated: 143,
} as const;

export type FailureKind = keyof typeof exitCodes;

type Details = {
  /** What the user can do about it; a full sentence, or `Run: …`. */
  readonly hint?: string;
  /** The HTTP status that led here. */
  readonly status?: number;
  /** Messages by field, as the service's validation answers have them. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /** Of a write whose outcome is not known: for how long it was looked for, and ids of records that may be it. */
  readonly looked?: { readonly seconds: number; readonly candidates: readonly number[] };
  /** What the service answered, for whoever shows it as it is (`svc api`). */
  readonly answer?: HttpResponse;
  /** Something answers at the base URL, but it is not the service. */
  readonly isStranger?: boolean;
  /** A record was asked for, and the answer is another one. */
  readonly isOther?: boolean;
  /** An interrupted write that the service may have acted on. */
  readonly mayBeDone?: boolean;
  /** A list that contradicts itself: the records that came are good, and there are more. */
  readonly isShort?: boolean;
  /** A secret that is saved could not be read, so nobody was asked. */
  readonly isUnread?: boolean;
  /** It was not sent since it could not be recorded; nor will any other be. */
  readonly isUnrecorded?: boolean;
  /** It speaks of all that its command has done, not of one request alone: nothing is added to it. */
  readonly isWhole?: boolean;
  /** What the command wrote before it failed stands; the ids of those records, as far as they are known. */
  readonly done?: readonly number[];
  /** The gate before customers refused it: nothing of it was sent, and it may be tried again. */
  readonly isHeld?: boolean;
  /** It may be done, and what holds now forbids that it is sent once more. */
  readonly isBarred?: boolean;
  /** Nothing was sent: what was to be sent is a draft that waits for a person. */
  readonly drafted?: Drafted;
  /** Standard input has no rows: of a list that was piped on that is no mistake. */
  readonly hasNoRows?: boolean;
  /** What is wrong with the copy of the account; the service has nothing to do with it. */
  readonly copy?: CopyProblem;
  readonly cause?: unknown;
};

type CopyProblem =
  | { readonly is: 'missing' | 'locked' | 'out of reach' }
  | { readonly is: 'damaged'; readonly file: string };

/** A draft, as a face tells of it. `told`: one line with the command that sends it. */
export type Drafted = {
  /** Null where what was asked for is so already, and no draft was made. */
  readonly id: number | null;
  readonly told: string;
  readonly record: Readonly<Record<string, unknown>>;
};

/** Said of one request. It is taken out again where the command has done something else. */
export const nothingChanged = 'Nothing was changed.';

/** Of a command that has begun its end says more. */
export const runSameAgain = 'Run the same command again.';

/** A run that a signal stopped: `reason` is the signal's name, which the exit code tells. */
export const interruption = (
  { reason }: { readonly reason?: unknown },
  message = 'Interrupted.',
  hint?: string,
): Failure => new Failure(kindOfSignal(reason), message, { hint });

function kindOfSignal(reason: unknown): 'interrupted' | 'terminated' | 'hangup' {
  if (reason === 'SIGTERM') return 'terminated';
  return reason === 'SIGHUP' ? 'hangup' : 'interrupted';
}

/** Whether a signal ended it. */
export const isInterruption = ({ kind }: Pick<Failure, 'kind'>): boolean =>
  kind === 'interrupted' || kind === 'terminated' || kind === 'hangup';

/** The details are assigned in one go, which the compiler does not see. */
const ErrorWithDetails = Error as new (...given: ConstructorParameters<typeof Error>) => Error & Omit<Details, 'cause'>;

/** The one error class of svc: a sentence of fact, its kind, and one of advice. Caught only in `main.ts`. */
export class Failure extends ErrorWithDetails {
  declare readonly kind: FailureKind;

  constructor(kind: FailureKind, message: string, { cause, ...details }: Details = {}) {
    super(message, cause === undefined ? undefined : { cause });
    // Where another failure's details are taken over, its kind is among them.
    Object.assign(this, details, { name: 'Failure', kind });
  }

  get exitCode(): number {
    return exitCodes[this.kind];
  }

  /** What was to be done may have been done all the same. */
  get isUnsure(): boolean {
    return this.kind === 'unknown' || this.mayBeDone === true;
  }

  /** The machine-readable form. */
  toJSON() {
    return {
      error: {
        kind: this.kind,
        exit_code: this.exitCode,
        status: this.status ?? null,
        message: this.message,
        hint: this.hint ?? null,
        fields: this.fields ?? null,
        ...(this.done && { done: true, done_ids: this.done }),
        ...(this.kind === 'unknown' && {
          looked_for_seconds: this.looked?.seconds ?? 0,
          candidates: this.looked?.candidates ?? [],
        }),
      },
    };
  }
}

/** The same failure, with other advice. */
export const withHint = (failure: Failure, hint: string): Failure =>
  new Failure(failure.kind, failure.message, { ...failure, hint, cause: failure });

/** Which record is not there. Other failures stay as they are. */
export const notFoundNames =
  (what: string, advice?: string) =>
  (error: unknown): never => {
    // A look beforehand, as that of a draft, may have named it; an empty name is in every message.
    if (!(error instanceof Failure) || error.kind !== 'not-found' || error.message.includes(what)) throw error;
    const { hint, status, fields, answer } = error;
    throw new Failure(error.kind, `${what}: ${error.message}`, {
      hint: [advice, hint].filter((one) => one).join('\n'),
      status,
      fields,
      answer,
      cause: error,
    });
  };

/** The code of an error of the system (`ENOENT`) or of Node (`ERR_INVALID_URL`). */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;

/** What went wrong, and what helps, as one text. */
export const wordsOf = (error: unknown): string =>
  error instanceof Failure && error.hint !== undefined ? `${error.message} ${error.hint}` : messageOf(error);

/** What went wrong, of whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What the work returns, and the other value where it throws. */
export function orElse<T, U>(work: () => T, otherwise: U): T | U {
  try {
    return work();
  } catch {
    return otherwise;
  }
}
