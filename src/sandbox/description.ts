import { usualPresets } from '../api/path.ts';

/** `GET /openapi.json`: the description of the service, with this sandbox as its server. */
export async function answerDescription(origin: string): Promise<object> {
  // Loaded when it is asked for: a sandbox that nobody asks starts without it.
  const { openApiOf } = await import('../derive/openapi.ts');
  return openApiOf({ baseUrl: origin, authUrl: origin, partnerSegment: usualPresets.partner });
}
