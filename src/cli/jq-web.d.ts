declare module 'jq-web' {
  /** jq, the program, as WebAssembly. `raw` throws an Error with `exitCode` and `stderr` where jq fails. */
  type Jq = { raw(json: string, filter: string, flags?: string[]): string | undefined };
  const loading: Promise<Jq>;
  export default loading;
}
