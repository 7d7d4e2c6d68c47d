type Input = NodeJS.ReadableStream & { setRawMode?(mode: boolean): unknown };

type Keys = {
  readonly input: Input;
  /** No key of it is read any more; those that were typed ahead answer no other question. */
  over(): void;
};

/** An arrow or another key of several characters, else one character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys of several characters begin with Escape
const oneKey = /\x1b(?:\[[\d;]*[\x40-\x7e]|O.)|./gsu;

/**
 * The same keys, each in a turn of its own. A question with choices looks for them after each key; of several that arrive at
 * once (a paste, a slow line) Return would choose among those that stood there before them.
 */
export function keyByKey(input: Input): Keys {
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
    over() {
      input.unpipe(keys);
      keys.destroy();
    },
  };
}
