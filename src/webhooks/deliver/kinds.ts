import { resolve } from 'node:path';
import * as v from 'valibot';
import type { Opening, Sink } from './sink.ts';

type SinkKind<Schema extends v.GenericSchema> = {
  /** Its part of the configuration, below the key of its name. */
  readonly schema: Schema;
  /** Loads what the kind needs only now. */
  readonly open: (config: v.InferOutput<Schema>, opening: Opening) => Promise<Sink>;
};

const kind = <Schema extends v.GenericSchema>(entry: SinkKind<Schema>): SinkKind<Schema> => entry;

export const text = v.pipe(
  v.string('must be a text'),
  v.check((value) => value.trim() !== '', 'is empty'),
);

const url = v.pipe(
  text,
  v.check(
    (value) => URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol),
    'must be an http:// or https:// URL',
  ),
);

const natsServer = v.pipe(
  text,
  v.regex(/^(?:(?:nats|tls):\/\/)?[\w.:[\]-]+$/u, 'must be nats://HOST:PORT or tls://HOST:PORT, without a password'),
);

const natsSubject = v.pipe(
  text,
  v.regex(
    /^[\w-]+(?:\.(?:[\w-]+|\{event\}|\{account\}))*$/u,
    'must be words with dots between them, such as svc.{event}, and begin with a word',
  ),
);

const natsStream = v.strictObject({
  name: v.pipe(text, v.regex(/^[\w-]{1,64}$/u, 'must be 1 to 64 letters, digits, "-" or "_"')),
  create: v.optional(v.boolean('must be true or false'), false),
});

/** Every kind of sink. The configuration, its messages and the opening follow from this table: a new kind is one entry. */
const sinkKinds = {
  http: kind({
    schema: v.strictObject({ url }),
    async open(config, { name, timeoutMs, exchange }) {
      const { httpSink } = await import('./http.ts');
      return httpSink({ name, url: config.url, timeoutMs }, exchange);
    },
  }),
  exec: kind({
    schema: v.strictObject({
      command: v.pipe(v.array(text, 'must be a list: the program and its arguments'), v.minLength(1, 'is empty')),
      env: v.optional(v.array(text, 'must be a list of names of variables'), []),
    }),
    async open({ command: [program = '', ...args], env }, { name, timeoutMs, folder, hidden, env: own, clock }) {
      const { programSink } = await import('./program.ts');
      const given = Object.fromEntries(env.map((variable) => [variable, own[variable]]));
      return programSink({ name, command: [program, ...args], folder, timeoutMs, hidden, given }, clock);
    },
  }),
  file: kind({
    schema: v.strictObject({ path: text }),
    async open({ path }, { name, timeoutMs, folder, refuse }) {
      const { fileSink } = await import('./file.ts');
      return fileSink({ name, path: resolve(folder, path), timeoutMs, refuse: () => refuse(path) });
    },
  }),
  nats: kind({
    schema: v.strictObject({
      servers: v.pipe(v.array(natsServer, 'must be a list of servers'), v.minLength(1, 'is empty')),
      subject: natsSubject,
      credentials: v.optional(text),
      stream: v.optional(natsStream),
    }),
    async open({ servers, subject, credentials, stream }, { name, timeoutMs, repeatsMs, folder, notice }) {
      const { natsSink } = await import('./nats.ts');
      const file = credentials === undefined ? undefined : resolve(folder, credentials);
      return natsSink({ name, servers, subject, timeoutMs, repeatsMs, notice, credentials: file, stream });
    },
  }),
};

type Name = keyof typeof sinkKinds;
type Schemas = { readonly [Kind in Name]: (typeof sinkKinds)[Kind]['schema'] };
const kinds: { readonly [Kind in Name]: SinkKind<Schemas[Kind]> } = sinkKinds;

const isName = (name: string): name is Name => Object.hasOwn(sinkKinds, name);

export const sinkKindNames: readonly Name[] = Object.keys(sinkKinds).filter(isName);

/** Below the key of its kind what a sink of the configuration says; exactly one of them is there. */
export type SinkChoice = { readonly [Kind in Name]?: v.InferOutput<Schemas[Kind]> | undefined };

type ChoiceEntries = { readonly [Kind in Name]: v.OptionalSchema<Schemas[Kind], undefined> };

/** The keys of the kinds in the schema of a sink. The cast: `fromEntries` forgets which name has which schema. */
export const sinkChoiceEntries = Object.fromEntries(
  sinkKindNames.map((name) => [name, v.optional<v.GenericSchema>(sinkKinds[name].schema)]),
) as ChoiceEntries;

/** Opens a sink of the configuration. */
export async function openSink(choice: SinkChoice, opening: Opening): Promise<Sink> {
  for (const name of sinkKindNames) {
    const sink = await openAs(name, choice, opening);
    if (sink) return sink;
  }
  throw new Error(`The sink ${opening.name} is of no kind.`);
}

async function openAs<Kind extends Name>(name: Kind, choice: SinkChoice, opening: Opening): Promise<Sink | undefined> {
  const config: SinkChoice[Kind] = choice[name];
  return config === undefined ? undefined : kinds[name].open(config, opening);
}
