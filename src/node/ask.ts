import { confirm, input, password, search } from '@inquirer/prompts';
import type { Ask, Choice } from '../context.ts';
import { Failure, interruption } from '../errors.ts';
import { sanitize } from '../text/sanitize.ts';
import { cells, cut, wrap } from '../text/width.ts';
import { edit } from './editor.ts';
import { dropTypedAhead } from './typed-ahead.ts';

type Terminal = {
  readonly input: NodeJS.ReadableStream;
  /** Questions go to standard error: standard output is for data. */
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
  readonly color: boolean;
  readonly files: { readonly state: string };
};

/** Questions to a person at a terminal. What is asked about may come from customers, so all of it is made harmless. */
export function createAsk({ color, env, files, ...context }: Terminal): Omit<Ask, 'canAsk' | 'line'> {
  const theme = color ? undefined : plainTheme;
  // Inquirer breaks a line in the middle of a word. Two cells belong to its mark before the first one.
  const room = () => Math.max(20, context.output.columns ?? 80) - 2;
  const asked = (question: string) => wrap(sanitize(question), room()).join('\n');
  return {
    confirm: async (question, { shown } = {}) => {
      await dropTypedAhead(context.input);
      if (shown !== undefined) context.output.write(`${sanitize(shown, { keepNewlines: true })}\n\n`);
      return answered(
        (signal) => confirm({ message: asked(question), default: false, theme }, { ...context, signal }),
        context,
      );
    },
    text: async (question, { signal, isFleeting = false, isConsent = false } = {}) => {
      if (isConsent) await dropTypedAhead(context.input);
      return answered(
        (over) =>
          input({ message: asked(question), theme }, { ...context, signal: over, clearPromptOnDone: isFleeting }),
        context,
        signal,
      );
    },
    secret: (question) =>
      answered((signal) => password({ message: asked(question), mask: '*', theme }, { ...context, signal }), context),
    choose: async (question, choices) => {
      const message = asked(question);
      const left = room() - cells(message.slice(message.lastIndexOf('\n') + 1)) - 1;
      const shown = choices.map(({ value, name, description }) => ({
        value,
        // A choice is a line of its own.
        name: cut(sanitize(name ?? value), room()),
        description: description && sanitize(description),
      }));
      // What was chosen is said behind the question, where there is room.
      const short = (name: string) => (left < 20 ? `\n  ${cut(name, room())}` : cut(name, left));
      const source = (typed: string | undefined) =>
        matching(shown, typed ?? '').map((choice) => ({ ...choice, short: short(choice.name) }));
      await dropTypedAhead(context.input);
      const { input, over } = keyByKey(context.input);
      const keyed = { ...context, input };
      return answered(
        (signal) => search({ message, source, theme: narrowing(theme) }, { ...keyed, signal }),
        keyed,
      ).finally(over);
    },
    edit: (initial, { extension = '.txt', ...options } = {}) =>
      edit(initial, extension, { env, signal: context.signal, files, ...options }),
  };
}

/**
 * Choices that contain the typed words, in any order: the one that is named exactly comes first, then those that begin
 * with the words. The one without a value, by which something else can be typed, always stays and takes what was typed:
 * at the end, but first where a number was typed that none of the others has, for Return must not mean another record.
 */
export function matching<C extends Choice>(choices: readonly C[], typed: string): C[] {
  const wanted = typed.trim().toLowerCase();
  const words = wanted.split(/\s+/u).filter(Boolean);
  const text = ({ value, name, description }: C) => `${name ?? ''} ${value} ${description ?? ''}`.toLowerCase();
  const isNamed = (choice: C) =>
    [choice.value, ...(choice.name ?? '').split(/ {2,}/u)].some((part) => part.toLowerCase() === wanted);
  const isOther = isNumber.test(wanted) && !choices.some((choice) => choice.value && isNamed(choice));
  const place = (choice: C) => {
    if (!choice.value) return isOther ? 0 : 4;
    if (isNamed(choice)) return 1;
    return text(choice).startsWith(words.join(' ')) ? 2 : 3;
  };
  return choices
    .filter((choice) => !choice.value || words.every((word) => text(choice).includes(word)))
    .sort((a, b) => place(a) - place(b))
    .map((choice) =>
      choice.value || wanted === ''
        ? choice
        : { ...choice, value: typed.trim(), name: `${choice.name ?? ''} (${typed.trim()})` },
    );
}

/** An id, or a number such as T-1008. */
const isNumber = /^(?:[a-z]+-)?\d+$/u;

/**
 * Asks once more after Ctrl-Z and `fg`: what was asked, and typed since, is gone from the screen, and the reading of keys has
 * ended. `over`: it is not asked any more.
 */
async function answered<T>(
  ask: (over: AbortSignal) => Promise<T>,
  terminal: Pick<Terminal, 'input' | 'output' | 'signal'>,
  over?: AbortSignal,
): Promise<T> {
  for (;;) {
    const stopped = new AbortController();
    const continued = () => stopped.abort();
    const ends = [over, terminal.signal].filter((one) => one !== undefined);
    process.on('SIGCONT', continued);
    try {
      return await answeredOnce(ask(AbortSignal.any([...ends, stopped.signal])), terminal);
    } catch (error) {
      if (!stopped.signal.aborted || ends.some(({ aborted }) => aborted)) throw error;
    } finally {
      process.off('SIGCONT', continued);
    }
  }
}

/** Ctrl-C at a question is the person's way out, not a fault. */
async function answeredOnce<T>(
  answer: Promise<T>,
  terminal: Pick<Terminal, 'input' | 'output' | 'signal'>,
): Promise<T> {
  const { signal } = terminal;
  const left = leftBy(terminal);
  try {
    return await Promise.race([answer, left.promise]);
  } catch (error) {
    if (error instanceof Failure) throw error;
    if (!(error instanceof Error)) throw error;
    const { name, cause } = error;
    if (name === 'ExitPromptError') throw new Failure('interrupted', 'Interrupted. Nothing was sent.');
    // A terminal that went away fails in ways of its own.
    if (signal?.aborted) throw interruption(signal, 'Interrupted. Nothing was sent.');
    if (name !== 'AbortPromptError') throw error;
    throw interruption({ reason: cause }, 'Interrupted. Nothing was sent.');
  } finally {
    left.over();
  }
}

/** Long enough for an answer that ends the question, too, to be heard first. */
const graceMs = 100;

/** Ctrl-D ends the reading of keys without a word to the question; then nothing would keep the process, and it ended with 0. */
function leftBy({ input, output }: Pick<Terminal, 'input' | 'output'>) {
  let timer: NodeJS.Timeout | undefined;
  let paused = () => {};
  const promise = new Promise<never>((_, reject) => {
    paused = () => {
      timer ??= setTimeout(() => {
        output.write('\n');
        reject(new Failure('interrupted', 'Interrupted. Nothing was sent.'));
      }, graceMs);
    };
    input.once('pause', paused);
  });
  return {
    promise,
    over() {
      clearTimeout(timer);
      input.off('pause', paused);
    },
  };
}

const same = (text: string): string => text;

/** On Node 20 Inquirer colours its output without asking where it goes. */
type Keys = [key: string, action: string][];

/** Nothing else says that what is typed narrows the list. */
const narrowing = (theme: typeof plainTheme | undefined) => {
  const keysHelpTip = (keys: Keys) =>
    [['type', 'narrow the list'], ...keys].map(([key, action]) => `${key} ${action}`).join(' • ');
  return { ...theme, style: { ...theme?.style, keysHelpTip } };
};

const plainTheme = {
  prefix: { idle: '?', done: '✔' },
  style: {
    answer: same,
    message: same,
    error: (text: string) => `> ${text}`,
    defaultAnswer: (text: string) => `(${text})`,
    help: same,
    highlight: same,
    key: (text: string) => `<${text}>`,
    disabled: (text: string) => `- ${text}`,
    searchTerm: same,
    description: same,
    keysHelpTip: (keys: Keys) => keys.map(([key, action]) => `${key} ${action}`).join(' • '),
  },
};

type Input = NodeJS.ReadableStream & { setRawMode?(mode: boolean): unknown };

/** An arrow or another key of several characters, else one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys of several characters begin with Escape
const oneKey = /\x1b(?:\[[\d;]*[\x40-\x7e]|O.)|./gsu;

/**
 * The same keys, each in a turn of its own. A question with choices looks for them after each key; of several that arrive at
 * once (a paste, a slow line) Return would choose among those that stood there before them.
 */
function keyByKey(input: Input) {
  const { Transform } = process.getBuiltinModule('node:stream');
  const { StringDecoder } = process.getBuiltinModule('node:string_decoder');
  const decoder = new StringDecoder('utf8');
  const keys: Input & InstanceType<typeof Transform> = new Transform({
    transform(bytes: Buffer, _, done) {
      const left = decoder.write(bytes).match(oneKey) ?? [];
      const next = () => {
        const key = left.shift();
        if (key === undefined || keys.destroyed) return done();
        keys.push(key);
        setImmediate(next);
      };
      next();
    },
  });
  keys.setRawMode = (mode) => input.setRawMode?.(mode);
  input.pipe(keys);
  return {
    input: keys,
    /** No key of it is read any more; those that were typed ahead answer no other question. */
    over() {
      input.unpipe(keys);
      keys.destroy();
    },
  };
}
