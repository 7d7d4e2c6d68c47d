import { expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { oauthTranscripts } from './oauth-transcripts.ts';
import { agrees, filledIn, type Known } from './transcript.ts';

test.for(oauthTranscripts)('$title', async ({ exchanges }) => {
  const started = new Date('2026-11-20T09:00:00Z');
  const sandbox = createSandbox({ seed: 'empty', consent: 'auto', now: () => started });
  const known: Known = new Map();
  for (const { request, response } of exchanges) {
    const [method = '', url = ''] = request.start.split(' ');
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, filledIn(value, known)]),
    );
    const answer = await sandbox.handle({ method, url, headers, body: filledIn(request.body, known) });
    expect(`${request.start}\n${answer.status}`).toBe(`${request.start}\n${response.start}`);
    for (const [name, value] of Object.entries(response.headers))
      judge(value, answer.headers[name] ?? '(missing)', known);
    if (response.body !== '') judge(response.body, answer.body, known);
    if (answer.status !== 302) expect(answer.headers.location).toBeUndefined();
  }
});

/** The comparison fails with both texts. */
function judge(expected: string, actual: string, known: Known): void {
  if (!agrees(expected, actual, known)) expect(actual).toBe(filledIn(expected, known));
}
