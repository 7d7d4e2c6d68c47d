import { createHmac } from 'node:crypto';

/**
 * `X-SVC-Signature` of a delivery: the hex HMAC-SHA256 of the raw body bytes, keyed with the signing secret
 * (service.md#webhooks-3). Sign the very bytes that are sent; a body written as JSON twice may differ.
 */
export const sign = (secret: string, body: Uint8Array): string => digest(secret, body).toString('hex');

/** The same as bytes, for whoever compares. */
export const digest = (secret: string, body: Uint8Array): Buffer => createHmac('sha256', secret).update(body).digest();
