import * as oauth from 'oauth4webapi';
import { afterEach, expect, test } from 'vitest';
import { createSandbox } from '../../src/sandbox/app.ts';
import { serve } from '../../src/sandbox/server.ts';

// A client library that others wrote, used as its manual says: whoever builds an app against the sandbox has one too.

let close = async () => {};
afterEach(() => close());

const client: oauth.Client = { client_id: 'sandbox_cli' };
const insecure = { [oauth.allowInsecureRequests]: true };
const redirectUri = 'http://127.0.0.1:8976/callback';

async function start() {
  const { port, close: end } = await serve(createSandbox({ seed: 'empty', consent: 'auto' }), 0);
  close = end;
  const url = `http://127.0.0.1:${port}`;
  const as: oauth.AuthorizationServer = {
    issuer: url,
    authorization_endpoint: `${url}/oauth/platform/authorize`,
    token_endpoint: `${url}/oauth/platform/token`,
    revocation_endpoint: `${url}/oauth/platform/revoke`,
  };
  return { url, as };
}

async function authorize(as: oauth.AuthorizationServer, verifier: string, changes: Record<string, string> = {}) {
  const state = oauth.generateRandomState();
  const query = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: redirectUri,
    scope: 'identity tickets:read',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...changes,
  };
  const redirect = await fetch(`${as.authorization_endpoint}?${new URLSearchParams(query)}`, { redirect: 'manual' });
  return oauth.validateAuthResponse(as, client, new URL(redirect.headers.get('location') ?? ''), state);
}

for (const [how, auth] of [
  ['HTTP Basic', oauth.ClientSecretBasic('sandbox_secret')],
  ['the body', oauth.ClientSecretPost('sandbox_secret')],
] as const) {
  test(`oauth4webapi logs in, refreshes and revokes, authenticated by ${how}`, async () => {
    const { url, as } = await start();
    const verifier = oauth.generateRandomCodeVerifier();
    const answer = await authorize(as, verifier);
    const token = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      await oauth.authorizationCodeGrantRequest(as, client, auth, answer, redirectUri, verifier, insecure),
    );
    expect(token).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'identity tickets:read' });

    const refresh = async (refreshToken = '') =>
      oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(as, client, auth, refreshToken, insecure),
      );
    const next = await refresh(token.refresh_token);
    await expect(refresh(token.refresh_token)).rejects.toMatchObject({ status: 400, error: 'invalid_grant' });

    const account = async () =>
      oauth.protectedResourceRequest(
        next.access_token,
        'GET',
        new URL(`${url}/platform/account`),
        undefined,
        undefined,
        insecure,
      );
    expect(await (await account()).json()).toMatchObject({ name: 'Acme' });
    const revocation = await oauth.revocationRequest(as, client, auth, next.refresh_token as string, insecure);
    await oauth.processRevocationResponse(revocation);
    expect((await account()).status).toBe(401);
  });
}

test('oauth4webapi understands every refusal', async () => {
  const { as } = await start();
  await expect(authorize(as, oauth.generateRandomCodeVerifier(), { scope: 'everything' })).rejects.toMatchObject({
    error: 'invalid_scope',
    error_description: expect.any(String),
  });
  const refresh = async (auth: oauth.ClientAuth) =>
    oauth.processRefreshTokenResponse(
      as,
      client,
      await oauth.refreshTokenGrantRequest(as, client, auth, 'x', insecure),
    );
  await expect(refresh(oauth.ClientSecretBasic('wrong'))).rejects.toMatchObject({
    status: 401,
    cause: [{ scheme: 'basic', parameters: { realm: 'svc' } }],
  });
  await expect(refresh(oauth.ClientSecretPost('wrong'))).rejects.toMatchObject({
    status: 401,
    error: 'invalid_client',
  });
});
