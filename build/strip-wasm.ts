/**
 * A WebAssembly module without its custom sections: in a release of jq-web two thirds of it are debugging information,
 * which nothing reads at run time.
 */
export function stripWasm(wasm: Uint8Array): Uint8Array {
  const preamble = 8;
  const kept: Uint8Array[] = [wasm.subarray(0, preamble)];
  for (let start = preamble; start < wasm.length; ) {
    const { value: size, next } = readUnsigned(wasm, start + 1);
    const end = next + size;
    const isCustom = wasm[start] === 0;
    if (!isCustom) kept.push(wasm.subarray(start, end));
    start = end;
  }
  return Buffer.concat(kept);
}

/** An unsigned LEB128, as the format writes its lengths. */
function readUnsigned(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  for (let next = start, shift = 0; ; shift += 7) {
    const byte = bytes[next++];
    if (byte === undefined) throw new Error('the WebAssembly module ends within a length');
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, next };
  }
}
