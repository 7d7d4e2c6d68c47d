import { sign } from '../../api/signature.ts';
import { capital } from '../../text/capital.ts';
import { hexDigestOf } from '../../text/digest.ts';
import { jsonIn } from '../../text/json.ts';
import { refusal, refusals } from './judge.ts';

/** Undefined where the signature holds; otherwise why not, as exactly as can be told, in one sentence. */
export function diagnose(signature: string, body: Uint8Array, secrets: readonly string[]): string | undefined {
  const why = refusal(signature, body, secrets);
  if (why === undefined) return undefined;
  if (why !== 'no-match') return whatItIs(signature, body, secrets) ?? `${capital(refusals[why])}.`;
  const tried = variants(body).find(([, changed]) => refusal(signature, changed, secrets) === undefined);
  if (tried) return `The body was changed: the signature fits the body ${tried[0]}.`;
  const lower = signature.toLowerCase();
  if (lower === hexDigestOf(body)) return 'It is the plain SHA-256 of the body: no secret was used.';
  if (secrets.some((secret) => secretVariants(secret).some((one) => sign(one, body) === lower))) {
    return 'It was signed with this secret in another form: with a space or a line end, or decoded from hex or base64.';
  }
  const which = secrets.length > 1 ? 'None of the secrets matches' : 'It does not match';
  return `${which}: it was signed with another secret, or the body is not byte for byte the one that was sent.`;
}

/** A signature of the wrong form may still show what it was meant to be. */
function whatItIs(signature: string, body: Uint8Array, secrets: readonly string[]): string | undefined {
  const right = secrets.map((secret) => sign(secret, body));
  const bare = signature
    .trim()
    .replace(/^(?:sha256=|v1=|0x)/iu, '')
    .toLowerCase();
  if (right.includes(bare)) {
    return 'It is the right signature in another form: the service sends 64 hex characters and nothing else.';
  }
  const base64 = right.map((hex) => Buffer.from(hex, 'hex').toString('base64'));
  if (base64.includes(signature.trim())) return 'It is the right signature in base64; the service sends hex.';
  if (signature.length < 64 && signature.length >= 8 && right.some((hex) => hex.startsWith(signature))) {
    return `It is the right signature cut off after ${signature.length} of 64 characters.`;
  }
  return undefined;
}

/** What proxies, editors and frameworks do to a body. */
function variants(body: Uint8Array): [string, Uint8Array][] {
  const text = Buffer.from(body).toString('utf8');
  const list: [string, string][] = [
    ['without its final line end', text.replace(/\r?\n$/u, '')],
    ['with a final line end', `${text}\n`],
    ['with other line ends', text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text.replaceAll('\n', '\r\n')],
    ['without its byte order mark', text.replace(/^\uFEFF/u, '')],
    ['without the white space around it', text.trim()],
  ];
  const value = jsonIn(text);
  // What is not JSON has no other way to be written.
  if (value !== undefined) {
    const compact = JSON.stringify(value);
    const inOneLine = [compact, ascii(compact)].flatMap((json) => [json, json.replaceAll('/', '\\/')]);
    const indented = [2, 4].map((spaces) => JSON.stringify(value, undefined, spaces));
    for (const json of [...inOneLine, ...indented]) list.push(['before it was parsed and written again', json]);
  }
  return list.map(([what, changed]) => [what, Buffer.from(changed, 'utf8')]);
}

/** By half characters, as JSON writes those that need two: without `u`, for which an emoji is one that no escape writes. */
const ascii = (json: string): string =>
  json.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

function secretVariants(secret: string): string[] {
  const decoded = ['hex', 'base64'] as const;
  return [`${secret}\n`, ` ${secret}`, `${secret} `, ...decoded.map((as) => Buffer.from(secret, as).toString('utf8'))];
}
