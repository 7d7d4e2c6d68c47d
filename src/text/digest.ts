/** The SHA-256 digest, in bytes and in hex. node:crypto is loaded when it is first asked: a start needs none. */
export const digestOf = (data: string | Uint8Array): Buffer =>
  process.getBuiltinModule('node:crypto').hash('sha256', data, 'buffer');

export const hexDigestOf = (data: string | Uint8Array): string => digestOf(data).toString('hex');

/** Whether two secrets are equal, in a time that tells nothing about where they differ, nor about their lengths. */
export const isSameSecret = (one: string, other: string): boolean =>
  process.getBuiltinModule('node:crypto').timingSafeEqual(digestOf(one), digestOf(other));

/**
 * 132 bits of it, as 22 characters of base64url: enough that no two texts ever share one. A long list of them takes no
 * Buffer for each.
 */
export const shortDigestOf = (data: string | Uint8Array): string =>
  process.getBuiltinModule('node:crypto').hash('sha256', data, 'base64url').slice(0, 22);
