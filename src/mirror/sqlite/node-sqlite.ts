/** As much of `node:sqlite` as svc uses; the types of the oldest Node that svc supports do not know it. */
export type NodeDatabase = {
  exec(text: string): void;
  prepare(text: string): NodeStatement;
  setAuthorizer(decide: Decide | null): void;
  close(): void;
};

/** SQLite's answer to each thing that a statement wants to do: 0 allows it, 1 refuses the statement. */
export type Decide = (action: number, first: string | null, second: string | null) => 0 | 1;

export type NodeStatement = {
  all(...values: readonly unknown[]): Readonly<Record<string, unknown>>[];
  iterate(): Iterator<readonly unknown[]>;
  setReturnArrays(isOn: boolean): void;
  setReadBigInts(isOn: boolean): void;
};

type Options = {
  readonly readOnly: boolean;
  readonly timeout: number;
  readonly enableForeignKeyConstraints: boolean;
};

export type NodeSqlite = {
  readonly DatabaseSync: {
    new (path: string, options: Options): NodeDatabase;
    readonly prototype: object;
  };
};

let loaded: NodeSqlite | undefined;

/**
 * Node's own SQLite, where it has an authorizer (24.10 and later): without one, a query cannot be kept from other files.
 * Undefined elsewhere.
 */
export function nodeSqlite(): NodeSqlite | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 24 || (major === 24 && minor < 10)) return undefined;
  loaded ??= withoutItsWarning(load);
  return loaded && 'setAuthorizer' in loaded.DatabaseSync.prototype ? loaded : undefined;
}

// A Node can be built without it. The types of Node 20 do not know the name.
const load = (): NodeSqlite | undefined =>
  (process.getBuiltinModule as (name: string) => NodeSqlite | undefined)('node:sqlite');

/** Some versions call the module experimental, on standard error. Every other warning is shown. */
function withoutItsWarning<T>(work: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = new Proxy(emitWarning, {
    apply(target, self, given) {
      if (!/^SQLite is an experimental feature/u.test(String(given[0]))) Reflect.apply(target, self, given);
    },
  });
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
