/** The SHA-256 digest, in bytes and in hex. node:crypto is loaded when it is first asked: a start needs none. */
export const digestOf = (data: string | Uint8Array): Buffer =>
  process.getBuiltinModule('node:crypto').hash('sha256', data, 'buffer');

export const hexDigestOf = (data: string | Uint8Array): string => digestOf(data).toString('hex');
