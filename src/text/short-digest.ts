import { sha256 } from '@noble/hashes/sha2.js';

/**
 * The SHA-256 digest of a short text, in hex: the same as `hexDigestOf` gives, without node:crypto, which takes five
 * milliseconds to load: a sixth of a start of Node. A long text takes longer than that here.
 */
export const hexDigestOfShort = (text: string): string => Buffer.from(sha256(Buffer.from(text))).toString('hex');
