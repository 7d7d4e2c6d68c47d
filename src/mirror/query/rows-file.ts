/** A value of a row: a time as text, a field that is an object or a list as JSON text. */
export type Cell = string | number | boolean | null;

/** A file of rows, written while they come. */
export type RowsFile = {
  put(row: readonly Cell[]): Promise<void>;
  /** On the disk when it resolves. */
  end(): Promise<void>;
};
