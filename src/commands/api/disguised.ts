import { Failure } from '../../errors.ts';
import type { Wire } from '../../http/exchange/request.ts';
import { jsonIn } from '../../text/json.ts';
import { isRecord } from '../../text/record.ts';

/** The client sets these itself: with another length the rest of a body would be the next request. */
const ofConnection = /^(?:connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/u;

/** By these some servers take another method than the request's. */
const ofMethod = /^(?:x-)?(?:http-)?method(?:-override)?$/u;

/** By these some servers serve another path than the one that was asked for. */
const ofPath = /^(?:x-)?(?:original|rewrite|rewritten|forwarded|request|envoy-original)-(?:ur[il]|path)$/u;

/** The headers of `-H 'Name: value'`, their names in lower case. */
export function headersFrom(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map(headerIn));
}

function headerIn(line: string): readonly [name: string, value: string] {
  const [, typed = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):\s*([\t\x20-\x7e]*)$/u.exec(line) ?? [];
  if (!typed) throw new Failure('usage', `-H takes 'Name: value', not "${line}".`);
  const name = typed.toLowerCase();
  // To a server behind a gateway the two are often one.
  const plain = name.replaceAll('_', '-');
  if (plain === 'authorization') {
    throw new Failure('usage', 'A flag never takes a secret; the credential is set by svc.', {
      hint: 'Put it into SVC_API_KEY or SVC_ACCESS_TOKEN instead.',
    });
  }
  if (ofConnection.test(plain)) throw new Failure('usage', `svc sets ${typed} itself. Leave it out: nothing was sent.`);
  if (ofMethod.test(plain)) throw otherMethod(`The header ${typed}`);
  if (ofPath.test(plain)) {
    throw new Failure('usage', `The header ${typed} names another path than PATH, and servers may go by it.`, {
      hint: 'Give the path itself. Nothing was sent.',
    });
  }
  return [name, value];
}

/**
 * Refuses what names another method in its query or its body, as many servers let it: svc judges, repeats and records a
 * request by the method that it has.
 */
export function refuseOtherMethod({ path, headers = {}, body = '' }: Wire): void {
  const query = formNames(path.slice(path.indexOf('?') + 1)).find(isOfMethod);
  if (query !== undefined) throw otherMethod(`${query} in the query`);
  const field = namesIn(body, headers['content-type'] ?? '').find(isOfMethod);
  if (field !== undefined) throw otherMethod(`${field} in the body`);
}

const otherMethod = (what: string): Failure =>
  new Failure('usage', `${what} names another method than the request has, and servers may go by it.`, {
    hint: 'Give the method with -X. Nothing was sent.',
  });

/** `_method`, or the name of such a header: servers differ in the signs between the words. */
const isOfMethod = (name: string): boolean =>
  /^[^a-z]+method$/u.test(name.toLowerCase()) ||
  /^x?(?:http)?methodoverride$/u.test(name.toLowerCase().replaceAll(/[^a-z]/gu, ''));

/** The names of the fields that a server may find in a body: by its type, or by what it looks like. */
function namesIn(body: string, type: string): readonly string[] {
  const json = jsonIn(body);
  const ofJson = isRecord(json) ? Object.keys(json) : [];
  if (json !== undefined && /^\s*application\/(?:[\w.-]+\+)?json\b/iu.test(type)) return ofJson;
  const ofParts = [...body.matchAll(/name\s*=\s*"?([^";\r\n]*)/giu)].map(([, name = '']) => name);
  return [...ofJson, ...ofParts, ...formNames(body)];
}

const formNames = (text: string): readonly string[] =>
  text.split(/[&;]/u).flatMap((pair) => [...new URLSearchParams(pair).keys()]);
