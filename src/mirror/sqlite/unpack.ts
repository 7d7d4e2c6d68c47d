/** SQLite as WebAssembly, unpacked; undefined where no build has packed it. */
export const unpack = (): Uint8Array | undefined => undefined;
